// Refreshes the list, follows a ticket, opens sources, copies commands. Every text that comes from
// outside goes into the page as text, never as HTML.
"use strict";

const KINDS = ["received", "planning", "retrieved", "candidate", "drafted", "asked", "planned", "refused", "failed", "retried", "caught_up", "resolved", "repeated", "reopened", "triaged", "assigned"];
const FINAL = new Set(["planned", "refused", "failed"]);

function whileVisible(open) {
  // A hidden tab gives its connection back: browsers allow only six to one address.
  let stream = null;
  const follow = () => {
    if (document.hidden) {
      stream?.close();
      stream = null;
    } else if (stream === null) {
      stream = open();
    }
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

function followList(list) {
  let timer = null;
  const refresh = async () => {
    timer = null;
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const focused = document.activeElement?.getAttribute("href");
    const fresh = page.getElementById("live");
    if (!fresh) return;
    list.replaceChildren(...fresh.childNodes);
    if (focused) list.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    tellAges();
  };
  const soon = () => { timer ??= setTimeout(refresh, 400); };
  let first = true;
  whileVisible(() => {
    const stream = new EventSource("/v1/events");
    for (const kind of KINDS) stream.addEventListener(kind, soon);
    if (!first) soon();
    first = false;
    return stream;
  });
}

function followTicket(ticket) {
  whileVisible(() => {
    const after = encodeURIComponent(ticket.dataset.after);
    const stream = new EventSource(`/v1/tickets/${encodeURIComponent(ticket.dataset.ticket)}/events?after=${after}`);
    for (const kind of KINDS) {
      stream.addEventListener(kind, () => {
        document.querySelector(`#progress [data-kind="${kind}"]`)?.classList.add("reached");
        if (FINAL.has(kind)) {
          stream.close();
          location.reload();
        }
      });
    }
    return stream;
  });
}

async function openSource(link) {
  const answer = await fetch(link.dataset.source);
  const source = await answer.json();
  const dialog = document.getElementById("source");
  if (!answer.ok) source.document_title = source.detail;
  document.getElementById("source-title").textContent = source.document_title || source.document_id;
  document.getElementById("source-document").textContent = source.document_id ?? "";
  document.getElementById("source-link").href = link.href;
  const lines = (source.lines ?? []).map((text, index) => lineOf(source, text, index));
  document.getElementById("source-lines").replaceChildren(...lines);
  dialog.showModal();
  dialog.querySelector(".cited")?.scrollIntoView({ block: "center" });
}

function lineOf(source, text, index) {
  const number = source.first_line + index;
  const line = document.createElement("div");
  line.className = "line";
  if (source.start_line <= number && number <= source.end_line) line.classList.add("cited");
  for (const [name, content] of [["number", number], ["code", text]]) {
    const part = document.createElement("span");
    part.className = name;
    part.textContent = content;
    line.append(part);
  }
  return line;
}

async function copy(button) {
  const code = button.parentElement.querySelector("code");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Without HTTPS a browser may refuse; then the command is at least selected.
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function tellAges() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const seconds = Math.max(0, (Date.now() - new Date(time.dateTime)) / 1000);
    const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].find(([s]) => seconds >= s) ?? [1, "s"];
    time.textContent = `${Math.floor(seconds / size)} ${unit}`;
  }
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-source]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    openSource(link).catch(() => { location.href = link.href; });
  }
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
  if (event.target.id === "source") event.target.close(); // the backdrop
});

for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
for (const origin of document.querySelectorAll("[data-origin]")) origin.textContent = location.origin;
setInterval(tellAges, 15000);

const list = document.querySelector("[data-live=list]:not([data-paused])");
if (list) followList(list);
const ticket = document.querySelector("[data-live=ticket]:not([data-final])");
if (ticket) followTicket(ticket);
