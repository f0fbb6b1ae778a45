// What somebody has begun to write on a ticket, kept in the browser until it is sent or discarded.
// A field is known by what its step says, so that it is found again in another workflow, and nowhere else.
import { ROW } from "./rows.js";
import { store, stored } from "./stored.js";

const FIELDS = "form :is(input[type=text], textarea)";
const KEPT_MS = 7 * 24 * 3600 * 1000;

const nameOf = (ticket) => `drafts:${ticket}`;

function read(ticket) {
  try {
    const all = JSON.parse(stored("localStorage", nameOf(ticket)) ?? "{}");
    return Object.fromEntries(Object.entries(all).filter(([, draft]) => draft.at > Date.now() - KEPT_MS));
  } catch {
    return {};
  }
}

function write(ticket, drafts) {
  store("localStorage", nameOf(ticket), Object.keys(drafts).length ? JSON.stringify(drafts) : null);
}

function keyOf(field) {
  const step = field.closest(ROW)?.dataset.key ?? "";
  return JSON.stringify([step, field.form.dataset.key ?? new URL(field.form.action).pathname, field.name]);
}

function fieldsOf(node) {
  return [...node.querySelectorAll(FIELDS)];
}

// Notes what is in the field now; a field as it came is no draft.
export function keepDraft(ticket, field) {
  if (!field.matches(FIELDS)) return;
  const drafts = read(ticket);
  const key = keyOf(field);
  if (field.value === field.defaultValue) delete drafts[key];
  else {
    const said = field.closest(ROW)?.dataset.key.split("\n")[0] ?? "";
    const was = drafts[key]?.was ?? field.form.elements.was?.value ?? "";
    drafts[key] = { value: field.value, was, said, label: field.ariaLabel ?? field.placeholder, at: Date.now() };
  }
  write(ticket, drafts);
}

// What a form has sent is no draft any more.
export function dropDrafts(ticket, form) {
  const drafts = read(ticket);
  for (const field of fieldsOf(form.parentElement)) if (field.form === form) delete drafts[keyOf(field)];
  write(ticket, drafts);
}

// Notes that a form was sent by leaving the page: once the page comes again from there, it arrived.
export function noteSent(ticket, form) {
  const drafts = read(ticket);
  for (const field of fieldsOf(form.parentElement)) {
    if (field.form === form && drafts[keyOf(field)]) drafts[keyOf(field)].sent = true;
  }
  write(ticket, drafts);
}

export function dropArrived(ticket) {
  if (URL.parse(document.referrer)?.pathname !== location.pathname) return;
  write(ticket, Object.fromEntries(Object.entries(read(ticket)).filter(([, draft]) => !draft.sent)));
}

// Puts what was begun into its fields again; what has no field any more is offered at the top.
export function offerDrafts(ticket, page, box) {
  const drafts = read(ticket);
  const found = new Map(fieldsOf(page).map((field) => [keyOf(field), field]));
  const without = [];
  for (const [key, draft] of Object.entries(drafts)) {
    const field = found.get(key);
    if (!field) without.push([key, draft]);
    else {
      if (field !== document.activeElement && field.value !== draft.value) field.value = draft.value;
      if (field.form.elements.was) field.form.elements.was.value = draft.was;
      field.closest("details")?.setAttribute("open", "");
    }
  }
  box.hidden = !without.length;
  box.replaceChildren(...without.map(([key, draft]) => offer(ticket, key, draft, page, box)));
}

function offer(ticket, key, draft, page, box) {
  const line = document.createElement("p");
  const words = document.createElement("b");
  words.textContent = draft.value;
  const where = draft.said ? ` at the step “${draft.said}”, which is not here any more: ` : ": ";
  const copied = button("Copy", async (event) => {
    await navigator.clipboard?.writeText(draft.value);
    event.target.textContent = "Copied";
  });
  const dropped = button("Discard", () => {
    const drafts = read(ticket);
    delete drafts[key];
    write(ticket, drafts);
    offerDrafts(ticket, page, box);
  });
  line.append("You had begun to write", where, words, " ", copied, " ", dropped);
  return line;
}

function button(words, onClick) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.addEventListener("click", onClick);
  return made;
}
