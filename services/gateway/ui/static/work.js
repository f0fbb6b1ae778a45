// Work on the workflow without leaving the place: forms are sent quietly, and what others do comes in.
import { tellAges } from "./ages.js";

const QUIET_MS = 250;
const article = document.querySelector("article[data-ticket]");
const refusal = document.getElementById("refusal");
let timer = null;

function open(node) {
  return [...node.querySelectorAll("details[open][id]")].map((each) => each.id);
}

const FIELDS = "form :is(input[type=text], textarea, select)";

// Names a field alike on the page before and on the one after it.
function keyOf(field) {
  const said = [...field.form.querySelectorAll("input[type=hidden]")].map((each) => each.value);
  return JSON.stringify([field.form.action.split("/").pop(), ...said, field.name]);
}

function isDirty(field) {
  if (field.nodeName !== "SELECT") return field.value !== field.defaultValue;
  return [...field.options].some((each) => each.selected !== each.defaultSelected);
}

// Fields that somebody has begun to fill, but for those of the form that is sent.
function dirty(node, sent) {
  return [...node.querySelectorAll(FIELDS)].filter((field) => field.form !== sent && isDirty(field));
}

// Puts what was begun into the fresh fields, unless they are of another candidate.
function keepBegun(fresh, old, sent) {
  if (fresh.dataset.candidate !== old.dataset.candidate) return;
  const begun = new Map(dirty(old, sent).map((field) => [keyOf(field), field.value]));
  for (const field of fresh.querySelectorAll(FIELDS)) {
    const value = begun.get(keyOf(field));
    if (value === undefined) continue;
    if (field.nodeName !== "SELECT" || [...field.options].some((each) => each.value === value)) field.value = value;
  }
}

// The address of the page after a form, with the edit open that somebody is at.
function withEdit(address, sent) {
  const edit = document.querySelector("#work .edit");
  if (!edit || !dirty(edit, sent).length) return address;
  const wanted = new URL(address);
  wanted.searchParams.set("edit", edit.closest("li.step").dataset.step);
  return wanted.href;
}

// Puts the parts of a fresh page into this one; what is open stays open, the focus where it was,
// and what was begun in other fields than those of the form that was sent.
function take(text, address, sent) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const focus = document.activeElement?.id;
  for (const id of ["questions", "work", "history"]) {
    const fresh = page.getElementById(id);
    const old = document.getElementById(id);
    if (!fresh || !old) continue;
    for (const each of open(old)) fresh.querySelector(`#${CSS.escape(each)}`)?.setAttribute("open", "");
    if (old.open) fresh.setAttribute("open", "");
    const { scrollTop = 0, scrollLeft = 0 } = old.querySelector(".drawing") ?? {};
    keepBegun(fresh, old, sent);
    old.replaceWith(fresh);
    fresh.querySelector(".drawing")?.scrollTo(scrollLeft, scrollTop);
  }
  for (const button of document.querySelectorAll("#work [data-copy]")) button.hidden = false;
  if (address) history.replaceState(null, "", address);
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  tellAges();
  light(stepAt(location.hash), false);
}

function say(words) {
  refusal.textContent = words;
  refusal.hidden = !words;
}

async function load(address, options) {
  // A refusal is a page, whose words are shown, for those alone who ask for one.
  const answer = await fetch(address, { ...options, headers: { accept: "text/html" } });
  const text = await answer.text();
  if (!answer.ok) {
    const page = new DOMParser().parseFromString(text, "text/html");
    say(page.querySelector(".empty p")?.textContent ?? "That did not work.");
    return null;
  }
  say("");
  return { text, url: answer.url };
}

function isTyping() {
  const work = document.getElementById("work");
  return Boolean(work && dirty(work).length);
}

// What somebody is writing is not taken away: the page then comes with their next step.
function soon() {
  timer ??= setTimeout(async () => {
    timer = null;
    if (isTyping()) return;
    const found = await load(location.href.split("#")[0]);
    if (found && !isTyping()) take(found.text);
  }, QUIET_MS);
}

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-quiet]");
  if (!form) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  load(form.action, { method: "POST", body })
    .then((found) => {
      const wanted = found && withEdit(found.url, form);
      return wanted && wanted !== found.url ? load(wanted) : found;
    })
    .then((found) => {
      if (!found) return;
      for (const more of form.closest("li.step")?.querySelectorAll(".more-work[open]") ?? []) {
        if (!dirty(more, form).length) more.open = false;
      }
      take(found.text, found.url.split("#")[0], form);
      const next = document.querySelector(".step.next");
      if (next && form.closest("li.step")) reveal(next);
    })
    .catch(() => say("The platform did not answer. Nothing was changed; try again."));
});

document.addEventListener("click", (event) => {
  const swap = event.target.closest("a[data-swap]");
  const drawn = event.target.closest(".drawing a[data-step]");
  const row = event.target.closest("li.step");
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (swap && plain) {
    event.preventDefault();
    load(swap.href).then((found) => {
      if (!found) return;
      take(found.text, swap.href);
      document.getElementById("edit-text")?.focus();
    }).catch(() => { location.href = swap.href; });
  } else if (drawn && plain) {
    event.preventDefault();
    history.replaceState(null, "", drawn.getAttribute("href"));
    light(drawn.dataset.step, true);
  } else if (row && !event.target.closest("a, button, input, textarea, select, summary, form")) {
    light(row.dataset.step, false);
    drawnStep(row.dataset.step)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
});

document.addEventListener("focusin", (event) => {
  const row = event.target.closest("li.step");
  if (row) light(row.dataset.step, false);
});

function stepAt(hash) {
  return hash.startsWith("#step-") ? document.getElementById(hash.slice(1))?.dataset.step : undefined;
}

function drawnStep(step) {
  return document.querySelector(`.drawing a[data-step="${CSS.escape(step)}"]`);
}

function reveal(row) {
  const { top, bottom } = row.getBoundingClientRect();
  if (top < 60 || bottom > innerHeight) row.scrollIntoView({ block: "center" });
}

// Marks a step in the list and in the drawing.
function light(step, scroll) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (!step) return;
  const row = document.querySelector(`li.step[data-step="${CSS.escape(step)}"]`);
  row?.classList.add("lit");
  const shape = drawnStep(step);
  shape?.classList.add("lit");
  const box = shape?.closest(".drawing");
  if (box) {
    const at = shape.getBoundingClientRect();
    const around = box.getBoundingClientRect();
    box.scrollTop += at.top - around.top - around.height / 2 + at.height / 2;
    box.scrollLeft += at.left - around.left - around.width / 2 + at.width / 2;
  }
  if (scroll && row) {
    reveal(row);
    row.focus({ preventScroll: true });
  }
}

article?.addEventListener("flowxpert:work", soon);
light(stepAt(location.hash), false);
