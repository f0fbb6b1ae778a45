// Work on the workflow without leaving the place: forms are sent quietly, and what others do comes in.
import { tellAges } from "./ages.js";
import { fillGaps } from "./copy.js";
import { dropArrived, dropDrafts, keepDraft, noteSent, offerDrafts } from "./drafts.js";
import { morph } from "./morph.js";
import { lineOf, NEXT, ROW } from "./rows.js";

const QUIET_MS = 250;
const LOOK_EVERY_MS = 60000;
const article = document.querySelector("article[data-ticket]");
const refusal = document.getElementById("refusal");
let timer = null;

const FIELDS = "form :is(input[type=text], textarea, select)";

function isDirty(field) {
  if (field.nodeName !== "SELECT") return field.value !== field.defaultValue;
  return [...field.options].some((each) => each.selected !== each.defaultSelected);
}

// Fields that somebody has begun to fill, but for those of the form that is sent.
function dirty(node, sent) {
  return [...node.querySelectorAll(FIELDS)].filter((field) => field.form !== sent && isDirty(field));
}

// The address of the page after a form, with the edit open that somebody is at.
function withEdit(address, sent) {
  const edit = document.querySelector("#work .edit");
  if (!edit || !dirty(edit, sent).length) return address;
  const wanted = new URL(address);
  wanted.searchParams.set("edit", edit.closest(ROW).dataset.step);
  return wanted.href;
}

// Makes this page like a fresh one: what is written, selected, focused or open stays so.
function take(text, address) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.querySelector("article[data-ticket]");
  if (!fresh) return;
  fresh.dataset.after = article.dataset.after;
  const shown = fresh.querySelector("#refusal");
  shown.textContent = refusal.textContent;
  shown.hidden = refusal.hidden;
  const focus = document.activeElement?.id;
  morph(article, fresh);
  for (const each of document.querySelectorAll("#work [data-copy]")) each.hidden = false;
  fillGaps();
  if (address) history.replaceState(null, "", address);
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  offer();
  tellAges();
  light(stepAt(location.hash), false);
}

function offer() {
  offerDrafts(article.dataset.ticket, article, document.getElementById("drafts"));
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

// Brings the page into sight that a link has opened beside this one, or below it.
function showBeside(hash) {
  const at = document.getElementById(hash.slice(1));
  if (!at?.closest(".beside")) return;
  document.getElementById("beside").focus({ preventScroll: true });
  const { top } = at.getBoundingClientRect();
  if (top < 60 || top > innerHeight / 2) at.scrollIntoView({ block: "start" });
}

function soon() {
  timer ??= setTimeout(async () => {
    timer = null;
    const asked = location.href.split("#")[0];
    const found = await load(asked).catch(() => null);
    if (found && asked === location.href.split("#")[0]) take(found.text);
  }, QUIET_MS);
}

document.addEventListener("input", (event) => {
  if (article && event.target.form) keepDraft(article.dataset.ticket, event.target);
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form");
  if (!form || !article) return;
  if (!("quiet" in form.dataset)) {
    noteSent(article.dataset.ticket, form);
    return;
  }
  event.preventDefault();
  const row = form.closest(ROW); // the form may be gone from the page that comes
  const region = form.closest(".beside") ? ".beside " : "";
  const body = new URLSearchParams(new FormData(form, event.submitter));
  load(form.action, { method: "POST", body })
    .then((found) => {
      const wanted = found && withEdit(found.url, form);
      return wanted && wanted !== found.url ? load(wanted) : found;
    })
    .then((found) => {
      if (!found) return;
      for (const more of row?.querySelectorAll(".more-work[open]") ?? []) {
        if (!dirty(more, form).length) more.open = false;
      }
      dropDrafts(article.dataset.ticket, form);
      form.reset();
      take(found.text, found.url.split("#")[0]);
      const marked = row && document.querySelector(`${ROW}[data-step="${CSS.escape(row.dataset.step)}"]`);
      const next = document.querySelector(region + NEXT);
      if (next && marked?.matches(":is(.done, .skipped, .not_applicable)")) goTo(next);
      else marked?.focus({ preventScroll: true });
    })
    .catch(() => say("The platform did not answer. Nothing was changed; try again."));
});

document.addEventListener("click", (event) => {
  const swap = event.target.closest("a[data-swap]");
  const drawn = event.target.closest(":is(.drawing, .stay) a[data-step]");
  const row = event.target.closest(ROW);
  const plain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (swap && plain) {
    event.preventDefault();
    load(swap.href).then((found) => {
      if (!found) return;
      take(found.text, swap.href);
      document.getElementById("edit-text")?.focus();
      showBeside(swap.hash);
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
  const row = event.target.closest(ROW);
  if (row) light(row.dataset.step, false);
});

function stepAt(hash) {
  return hash.startsWith("#step-") ? document.getElementById(hash.slice(1))?.dataset.step : undefined;
}

function drawnStep(step) {
  return document.querySelector(`.drawing a[data-step="${CSS.escape(step)}"]`);
}

// Brings a step into the middle of its drawing, which may be wider and higher than its box.
function center(step, behavior = "auto") {
  const shape = drawnStep(step);
  const box = shape?.closest(".drawing");
  if (!box) return;
  const at = shape.getBoundingClientRect();
  const around = box.getBoundingClientRect();
  box.scrollBy({
    top: at.top - around.top - around.height / 2 + at.height / 2,
    left: at.left - around.left - around.width / 2 + at.width / 2,
    behavior,
  });
}

function reveal(row) {
  const line = lineOf(row);
  const { top, bottom } = line.getBoundingClientRect();
  const covered = document.querySelector(".stay")?.offsetHeight ?? 0; // by the bar at the foot
  if (top < 60 || bottom > innerHeight - covered) line.scrollIntoView({ block: "center" });
}

// Marks a step in the list and in the drawing.
function light(step, scroll) {
  for (const lit of document.querySelectorAll(".lit")) lit.classList.remove("lit");
  if (!step) return;
  const row = document.querySelector(`${ROW}[data-step="${CSS.escape(step)}"]`);
  row?.classList.add("lit");
  drawnStep(step)?.classList.add("lit");
  center(step);
  if (scroll && row) goTo(row);
}

function goTo(row) {
  reveal(row);
  row.focus({ preventScroll: true });
}

article?.addEventListener("flowxpert:work", soon);
// A correction of the page that the workflow follows is no event of the ticket.
setInterval(() => { if (article && !document.hidden) soon(); }, LOOK_EVERY_MS);
if (article) {
  dropArrived(article.dataset.ticket);
  offer();
  const next = document.querySelector(NEXT);
  if (next && !location.hash && document.querySelector(`${ROW}:is(.done, .skipped, .not_applicable)`)) reveal(next);
  if (next) center(next.dataset.step, "instant");
}
light(stepAt(location.hash), false);
