// The pages of what is known: a step lights its lines and back; uploads and jobs tell how far they are.
import { follow } from "./streams.js";

for (const procedure of document.querySelectorAll("[data-procedure]")) link(procedure);
const form = document.querySelector("[data-upload]");
if (form) form.addEventListener("submit", send);
const job = document.querySelector("[data-job]:not([data-final])");
if (job) watch(job);

function link(procedure) {
  const lines = new Map();
  for (const line of procedure.querySelectorAll("[data-line]")) lines.set(Number(line.dataset.line), line);
  const steps = [...procedure.querySelectorAll("[data-of]")];
  const shape = (step) => procedure.querySelector(`.drawn a[data-step="${CSS.escape(step.dataset.of)}"]`);
  const linesOf = (told) => ranges(told).flatMap(([first, last]) => {
    const found = [];
    for (let number = first; number <= last; number += 1) if (lines.has(number)) found.push(lines.get(number));
    return found;
  });
  const light = (lit, chosen) => {
    for (const old of procedure.querySelectorAll(".lit")) old.classList.remove("lit");
    for (const line of lit) line.classList.add("lit");
    for (const step of chosen) for (const each of [step, shape(step)]) each?.classList.add("lit");
  };
  const found = (target) => {
    const drawn = target.closest(".drawn a[data-step]");
    const step = drawn ? steps.find((each) => each.dataset.of === drawn.dataset.step) : target.closest("[data-of]");
    if (step) return [linesOf(step.dataset.lines), [step]];
    const asked = target.closest("[data-lines]");
    if (asked) return [linesOf(asked.dataset.lines), []];
    const line = target.closest("[data-line]");
    if (!line) return null;
    const number = Number(line.dataset.line);
    const telling = steps.filter((each) => ranges(each.dataset.lines).some(([a, b]) => a <= number && number <= b));
    return [[line], telling];
  };
  const show = (event) => {
    const lit = found(event.target);
    if (lit) light(...lit);
    return lit;
  };
  procedure.addEventListener("mouseover", show);
  procedure.addEventListener("focusin", show);
  procedure.addEventListener("click", (event) => {
    const [told, chosen] = show(event) ?? [[], []];
    const isLine = event.target.closest("[data-line]");
    if (isLine) within(chosen.map(shape).find(Boolean));
    else within(told[0]);
    if (event.target.closest(".drawn a[data-step]")) event.preventDefault();
  });
}

function ranges(told) {
  return told.trim().split(/\s+/).filter(Boolean).map((each) => each.split("-").map(Number));
}

// Moves the box around a thing, not the page: both sides stay in sight.
function within(thing) {
  const box = thing?.closest(".listing, .drawing");
  if (!box) return;
  const [inner, outer] = [thing.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollBy({ top: inner.top - outer.top - (outer.height - inner.height) / 2 });
}

function send(event) {
  event.preventDefault();
  const told = form.querySelector("[data-told]");
  const sent = form.querySelector("[data-sent]");
  const button = form.querySelector("button");
  const request = new XMLHttpRequest();
  const failed = (why) => {
    told.textContent = why;
    sent.hidden = true;
    button.disabled = false;
  };
  request.open("POST", "/v1/documents");
  request.upload.addEventListener("progress", (progress) => {
    sent.hidden = false;
    if (!progress.lengthComputable) return;
    sent.value = progress.loaded / progress.total;
    told.textContent = `${Math.round(100 * sent.value)} % sent`;
  });
  request.addEventListener("error", () => failed("The connection broke: nothing was taken."));
  request.addEventListener("load", () => {
    let answer = {};
    try { answer = JSON.parse(request.responseText); } catch { /* no JSON: the status tells */ }
    if (request.status === 202) location.href = `/knowledge/jobs/${encodeURIComponent(answer.id)}`;
    else failed(answer.detail ?? `It was refused (${request.status}).`);
  });
  button.disabled = true;
  request.send(new FormData(form));
}

function watch(section) {
  const field = (name) => section.querySelector(`[data-field="${name}"]`);
  const stop = follow(() => `/v1/ingestions/${encodeURIComponent(section.dataset.job)}/events`, ["job"], (_kind, event) => {
    const now = JSON.parse(event.data);
    for (const shown of section.querySelectorAll("dd[data-field]")) {
      if (shown.dataset.field in now) shown.textContent = now[shown.dataset.field];
    }
    field("failures").textContent = now.failed.length;
    field("status").textContent = now.status;
    const bar = field("progress");
    bar.max = now.total || 1;
    bar.value = now.added + now.changed + now.unchanged + now.failed.length;
    if (typeof now.seconds_left === "number") field("left").textContent = `about ${Math.ceil(now.seconds_left)} s left`;
    if (now.status === "done" || now.status === "failed") {
      stop();
      location.reload();
    }
  });
}
