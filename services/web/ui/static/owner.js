// The owner's page: a block and its step in the drawing light each other; a change is sent and shown in place.
import { fillGaps } from "./copy.js";
import { isSingleKey } from "./keys.js";
import { morph } from "./morph.js";

const SMALLEST = 0.15;
const LARGEST = 3;
const STEP = 1.25;
const GUARD_MS = 400; // between two answers: the second click of a double click is none
const root = document.documentElement;
const zooms = new Map(); // what a person scaled a drawing to, by its procedure
const asked = new Map(); // the questions, by the ids of their forms, in the order of their numbers
const changes = []; // made since the page was opened: the id of the question, or "" for others
let isSending = false;
let guardedUntil = 0;
let current = ""; // the block that keys are about
let pointing = null;

const idOf = (form) => form.getAttribute("id"); // `form.id` may be a field of this name
const leadOf = (key) => document.querySelector(`[data-block="${CSS.escape(key)}"]`);
const blocks = () => [...document.querySelectorAll(".own [data-block]")].filter((each) => each.offsetParent);

if (document.querySelector("[data-owner]")) start();

function start() {
  root.dataset.view = "page";
  ready();
  document.addEventListener("mouseover", (event) => light(event.target));
  document.addEventListener("focusin", (event) => {
    const block = event.target.closest("[data-block]");
    if (block) current = block.dataset.block;
    light(event.target);
  });
  document.addEventListener("click", click, true);
  document.addEventListener("submit", submit);
  document.addEventListener("keydown", key);
  document.addEventListener("wheel", (event) => {
    const drawing = event.ctrlKey && event.target.closest(".drawn .drawing");
    if (!drawing) return;
    event.preventDefault();
    zoom(drawing, scaleOf(drawing) * Math.exp(-event.deltaY / 300));
  }, { passive: false });
  pinch();
  window.addEventListener("resize", ready);
}

// What the server sends without a script in mind.
function ready() {
  for (const each of document.querySelectorAll("[data-point], .zoom, [data-copy]")) each.hidden = false;
  fillGaps();
  for (const drawing of drawings()) {
    const was = zooms.get(nameOf(drawing));
    if (was) zoom(drawing, was);
    else fit(drawing);
  }
  showQuestions();
  const toDrawing = document.querySelector(".to-drawing");
  if (toDrawing) toDrawing.textContent = root.dataset.view === "drawing" ? "Page" : "Drawing";
}

// Light.

function light(target) {
  const step = target.closest?.(".drawn a[data-step]");
  const block = target.closest?.("[data-block]");
  if (!step && !block) return;
  for (const old of document.querySelectorAll(".lit")) old.classList.remove("lit");
  if (step) {
    const name = `${nameOf(step)}:${step.dataset.step}`;
    step.classList.add("lit");
    for (const each of document.querySelectorAll(`[data-drawn~="${CSS.escape(name)}"]`)) each.classList.add("lit");
    return;
  }
  block.classList.add("lit");
  const shapes = (block.dataset.drawn ?? "").split(" ").filter(Boolean).map((name) => {
    const [place, id] = name.split(/:(.*)/s);
    return document.querySelector(`[data-drawing="${place}"] > .drawing a[data-step="${CSS.escape(id)}"]`);
  }).filter(Boolean);
  for (const shape of shapes) shape.classList.add("lit");
  if (shapes.length) within(shapes[0]);
}

// Moves the boxes around a shape, not the page.
function within(shape) {
  for (const box of [shape.closest(".drawing"), shape.closest(".drawn")]) {
    const [inner, outer] = [shape.getBoundingClientRect(), box.getBoundingClientRect()];
    if (inner.top >= outer.top && inner.bottom <= outer.bottom && inner.left >= outer.left && inner.right <= outer.right) continue;
    if (box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth) continue;
    box.scrollBy({
      top: inner.top - outer.top - (outer.height - inner.height) / 2,
      left: inner.left - outer.left - (outer.width - inner.width) / 2,
    });
  }
}

// Zoom.

function drawings() {
  return [...document.querySelectorAll(".of-procedure > .drawing")];
}

function nameOf(inside) {
  return inside.closest("[data-drawing]").dataset.drawing;
}

function sizeOf(drawing) {
  const { width, height } = drawing.querySelector("svg").viewBox.baseVal;
  return [width, height];
}

function scaleOf(drawing) {
  return drawing.querySelector("svg").getBoundingClientRect().width / sizeOf(drawing)[0];
}

function zoom(drawing, scale) {
  const [width, height] = sizeOf(drawing);
  const now = Math.min(LARGEST, Math.max(SMALLEST, scale));
  const svg = drawing.querySelector("svg");
  svg.setAttribute("width", Math.floor(width * now));
  svg.setAttribute("height", Math.floor(height * now));
  zooms.set(nameOf(drawing), now);
}

// Shows a drawing whole, also after the next change.
function fit(drawing) {
  if (!drawing.clientWidth) return;
  const [width, height] = sizeOf(drawing);
  const room = parseFloat(getComputedStyle(drawing).maxHeight) || drawing.clientHeight;
  zoom(drawing, Math.min(1, (drawing.clientWidth - 4) / width, (room - 4) / height));
  zooms.delete(nameOf(drawing));
}

function pinch() {
  const fingers = new Map();
  let drawing = null;
  let before = 0;
  const apart = () => {
    const [a, b] = fingers.values();
    return Math.hypot(a.x - b.x, a.y - b.y);
  };
  document.addEventListener("pointerdown", (event) => {
    const at = event.pointerType === "touch" && event.target.closest?.(".drawn .drawing");
    if (!at) return;
    drawing = at;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size === 2) before = apart();
  });
  document.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (fingers.size !== 2 || !before) return;
    zoom(drawing, scaleOf(drawing) * apart() / before);
    before = apart();
  });
  for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, (event) => fingers.delete(event.pointerId));
}

// Questions: those of the page as it was opened keep their numbers, and new ones wait for them.

function ask(forms) {
  for (const form of forms) {
    const all = [...document.querySelectorAll(".own [data-block]")];
    const row = form.closest("[data-block]");
    asked.set(idOf(form), {
      number: asked.size + 1,
      text: form.querySelector("b").textContent,
      block: row.dataset.block,
      below: all[all.indexOf(row) + 1]?.dataset.block ?? "",
      answer: "",
    });
  }
}

function showQuestions() {
  const forms = [...document.querySelectorAll("form.asked")];
  if (!asked.size) ask(forms);
  const open = forms.filter((form) => asked.has(idOf(form)));
  const later = forms.length - open.length;
  for (const form of forms) form.hidden = !asked.has(idOf(form));
  for (const form of open) {
    const question = asked.get(idOf(form));
    question.answer = "";
    form.querySelector(".count").textContent = `Question ${question.number} of ${asked.size}`;
  }
  for (const [id, question] of asked) if (question.answer) fold(id, question);
  const next = document.querySelector("[data-next]");
  if (next) {
    next.hidden = !asked.size;
    next.textContent = open.length ? `${asked.size - open.length} of ${asked.size} answered: next`
      : later ? `${later} new question${later > 1 ? "s" : ""}` : `All ${asked.size} answered`;
  }
  guard();
}

// An answered question in one line, to be taken back while nothing was changed after it.
function fold(id, { number, text, block, below, answer }) {
  document.getElementById(`done-${id}`)?.remove();
  const line = document.createElement("p");
  line.className = "answered";
  line.id = `done-${id}`;
  line.textContent = `✓ ${number} of ${asked.size}: ${text} ${answer}`;
  if (changes.at(-1) === id) {
    const undo = document.createElement("button");
    undo.className = "quiet";
    undo.setAttribute("form", "undo");
    undo.textContent = "Take back";
    line.append(undo);
  }
  const place = leadOf(block)?.querySelector(".words");
  if (place) place.append(line);
  else leadOf(below)?.closest("ul")?.before(line);
}

function guard() {
  const left = guardedUntil - Date.now();
  for (const button of document.querySelectorAll(".asked button")) button.disabled = isSending || left > 0;
  if (!isSending && left > 0) setTimeout(guard, left);
}

// Changes.

let latest = Promise.resolve(true);
let refusals = 0;

// One after another, each change with what the answer before it says is served; behind a refused one none is sent.
function send(address, options) {
  const before = refusals;
  latest = latest.then(() => {
    if (!options) return exchange(address);
    if (before === refusals) return exchange(address, options);
    tell("Your later changes were not sent: look at the page and make them again.");
    return false;
  });
  return latest;
}

async function exchange(address, options) {
  for (const name of ["revision", "event"]) {
    const now = document.querySelector(`main [name="${name}"]`);
    if (now && options?.body.has(name)) options.body.set(name, now.value);
  }
  try {
    const answer = await fetch(address, options);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const main = fresh.querySelector("main");
    if (!main) throw new Error(`expected a page, got ${answer.status}`);
    morph(document.querySelector("main"), main);
    ready();
    if (!answer.ok) refusals += 1;
    document.querySelector('main [role="alert"]')?.scrollIntoView({ block: "nearest" });
    return true;
  } catch {
    refusals += 1;
    tell("That was not sent: the platform does not answer. Nothing is stored.");
    return false;
  }
}

async function submit(event) {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || !form.matches("#block-edit, .panel form, .asked, [data-undo], .approve")) return;
  event.preventDefault();
  const block = submitter?.closest("[data-block]")?.dataset.block ?? current;
  const data = new FormData(form, submitter);
  const body = new URLSearchParams(data);
  const before = [...changes];
  if (form.matches("[data-undo]")) changes.pop();
  else changes.push(asked.has(idOf(form)) ? idOf(form) : "");
  if (asked.has(idOf(form))) asked.get(idOf(form)).answer = submitter.textContent;
  isSending = true;
  guard();
  const isSent = await send(form.action, { method: "POST", body });
  isSending = false;
  guardedUntil = Date.now() + GUARD_MS;
  if (!isSent || document.querySelector('main [role="alert"]')) changes.splice(0, changes.length, ...before);
  showQuestions();
  if (isSent && block) leadOf(block)?.focus({ preventScroll: true });
}

function click(event) {
  if (pointing) {
    const block = event.target.closest("[data-block]");
    event.preventDefault();
    event.stopPropagation();
    if (block) choose(block.dataset.block);
    else stopPointing();
    return;
  }
  const point = event.target.closest("[data-point]");
  if (point) startPointing(point.closest("form").elements[point.dataset.point]);
  const zooming = event.target.closest("[data-zoom]");
  if (zooming) {
    const drawing = zooming.closest(".of-procedure").querySelector(".drawing");
    if (zooming.dataset.zoom === "fit") fit(drawing);
    else zoom(drawing, scaleOf(drawing) * (zooming.dataset.zoom === "+" ? STEP : 1 / STEP));
  }
  if (event.target.closest(".to-drawing")) {
    event.preventDefault();
    root.dataset.view = root.dataset.view === "drawing" ? "page" : "drawing";
    ready();
  }
  const next = event.target.closest("[data-next]");
  if (next) {
    event.preventDefault();
    root.dataset.view = "page";
    let open = [...document.querySelectorAll(".asked:not([hidden])")];
    if (!open.length) {
      ask([...document.querySelectorAll("form.asked")].filter((each) => !asked.has(idOf(each))));
      showQuestions();
      open = [...document.querySelectorAll(".asked:not([hidden])")];
    }
    const at = open.findIndex((each) => each.contains(document.activeElement));
    const form = open[(at + 1) % open.length];
    form?.scrollIntoView({ block: "center" });
    form?.querySelector("button")?.focus({ preventScroll: true });
  }
  const step = event.target.closest(".drawn a[data-step]");
  if (step && root.dataset.view === "drawing") {
    root.dataset.view = "page";
    ready();
  }
  const open = event.target.closest("[data-open]");
  if (open && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    current = open.closest("[data-block]").dataset.block;
    send(open.href).then((sent) => sent && leadOf(current)?.focus({ preventScroll: true }));
  }
}

// Pointing: the next tap on a block is what a form asks for.

function startPointing(select) {
  pointing = select;
  root.dataset.pointing = "";
  tell("Tap the block that you mean. Esc: leave it");
}

function stopPointing() {
  pointing = null;
  delete root.dataset.pointing;
  tell("");
}

function choose(block) {
  const select = pointing;
  stopPointing();
  if (![...select.options].some((each) => each.value === block)) {
    tell("That block cannot be meant here: one above it with words can.");
    return;
  }
  select.value = block;
  const { form } = select;
  form.scrollIntoView({ block: "nearest" });
  form.querySelector("button[type=submit]:not([form]):not(details *)")?.focus({ preventScroll: true });
}

function tell(words) {
  document.querySelector(".pointing")?.remove();
  if (!words) return;
  const told = document.createElement("p");
  told.className = "pointing";
  told.setAttribute("role", "status");
  told.textContent = words;
  document.body.append(told);
  if (!pointing) setTimeout(() => told.remove(), 5000);
}

// Keys.

async function opened(edit) {
  const lead = leadOf(current);
  const closed = lead?.querySelector("[data-open]");
  if (!lead || (!lead.querySelector(".panel") && !(closed && await send(closed.href)))) return null;
  return leadOf(current).querySelector(`form[data-edit="${edit}"]`);
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  b: () => leadOf(current)?.querySelector("button.check")?.click(),
  o: async () => point(await opened("only_if"), "on"),
  n: async () => point(await opened("note_of"), "of"),
  e: async () => (await opened("end"))?.elements.kind.focus(),
  w: async () => (await opened("words"))?.elements.text.select(),
  u: () => document.querySelector("[data-undo] button")?.click(),
};

function key(event) {
  if (event.key === "Escape" && pointing) stopPointing();
  if (pointing && event.key === "Enter" && current) {
    event.preventDefault();
    choose(current);
    return;
  }
  if (!isSingleKey(event) || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
}

function point(form, name) {
  if (form) startPointing(form.elements[name]);
}

function step(by) {
  const all = blocks();
  const at = all.findIndex((each) => each.dataset.block === current);
  const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}
