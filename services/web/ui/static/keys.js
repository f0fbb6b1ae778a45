// Single keys: j and k go through the list, n to the next step, / searches, ? tells them all. Typing is never disturbed.
import { lineOf, NEXT } from "./rows.js";
import { store, stored } from "./stored.js";

const LINKS = ".tickets .what a";

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => isOnTicket() && step(1),
  ArrowUp: () => isOnTicket() && step(-1),
  n: () => {
    const next = document.querySelector(NEXT);
    if (!next) return false;
    lineOf(next).scrollIntoView({ block: "center" });
    next.focus({ preventScroll: true });
    return true;
  },
  "/": () => {
    const search = document.querySelector("[data-search]");
    search?.focus();
    search?.select();
    return Boolean(search);
  },
  "?": () => {
    document.getElementById("keys").showModal();
    return true;
  },
};

export function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (isSingleKey(event) && Object.hasOwn(KEYS, event.key) && KEYS[event.key]()) event.preventDefault();
  });
  const button = document.getElementById("show-keys");
  button.hidden = false;
  button.addEventListener("click", KEYS["?"]);
  const choice = document.getElementById("use-keys");
  choice.checked = stored("localStorage", "keys") !== "off";
  choice.addEventListener("change", () => store("localStorage", "keys", choice.checked ? null : "off"));
}

// A single key that no field and no dialog wants, unless they are turned off.
export function isSingleKey(event) {
  if (event.defaultPrevented || event.isComposing || isTyping(event)) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return false;
  return stored("localStorage", "keys") !== "off";
}

function isTyping({ target }) {
  return target.isContentEditable || target.matches("input, textarea, select");
}

function isOnTicket() {
  return document.activeElement?.matches(LINKS) ?? false;
}

function step(by) {
  const links = [...document.querySelectorAll(LINKS)];
  const at = links.indexOf(document.activeElement);
  const inSight = links.findIndex((link) => link.getBoundingClientRect().top >= 0);
  const next = links[at < 0 ? Math.max(0, inSight) : at + by];
  next?.focus({ preventScroll: true });
  next?.closest("tr").scrollIntoView({ block: "nearest" });
  return links.length > 0;
}
