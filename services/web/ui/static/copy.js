// Copies a command to the clipboard, with what was filled into its gaps.
import { store, stored } from "./stored.js";

// What a shell would read as more than a word: it is not put into a command.
const UNSAFE = /[;&|`$<>(){}\\"'!*?#~\s]|^-/;
const BACK_MS = 1500;

export async function copy(button) {
  const command = button.closest(".command");
  const code = command.querySelector("code");
  const gap = [...code.querySelectorAll(".gap")].find((each) => reasonAgainst(each));
  say(command, gap ? reasonAgainst(gap) : "");
  if (gap) {
    gap.focus();
    return;
  }
  const text = filled(code);
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Without HTTPS a browser may refuse; then the command is at least selected.
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, BACK_MS);
}

function reasonAgainst(gap) {
  const value = gap.value.trim();
  if (!value) return `Fill in ${gap.placeholder} first.`;
  return UNSAFE.test(value) ? `${gap.placeholder}: a shell would read more than one word in this.` : "";
}

function filled(code) {
  return [...code.childNodes].map((node) => (node.nodeName === "INPUT" ? node.value.trim() : node.textContent)).join("");
}

function say(command, words) {
  const told = command.querySelector(".gap-told");
  if (!told) return;
  told.textContent = words;
  told.hidden = !words;
}

function key(gap) {
  return `gap:${gap.closest("[data-ticket]")?.dataset.ticket ?? ""}:${gap.dataset.gap}`;
}

// What is filled into one gap stands in all that have its name, and is kept while the tab is open;
// before that there stands what the ticket says.
export function fillGaps() {
  for (const gap of document.querySelectorAll(".gap")) {
    if (document.activeElement !== gap) gap.value = stored("sessionStorage", key(gap)) ?? gap.defaultValue;
  }
}

export function listenToGaps() {
  document.addEventListener("input", ({ target }) => {
    if (!target.matches(".gap")) return;
    store("sessionStorage", key(target), target.value === target.defaultValue ? null : target.value);
    fillGaps();
  });
  fillGaps();
}
