// What every page loads: wires the elements that it finds to what they do.
import { tellAges } from "./ages.js";
import { copy, listenToGaps } from "./copy.js";
import { listenToKeys } from "./keys.js";
import { followList, leadBackToList, rememberList } from "./list.js";
import { openSource } from "./source.js";
import { offerThemes } from "./themes.js";
import { followTicket } from "./ticket.js";

const AGES_EVERY_MS = 15000;

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-source]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    openSource(link).catch(() => { location.href = link.href; });
  }
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
  if (event.target.nodeName === "DIALOG") event.target.close(); // the backdrop
});

for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
for (const origin of document.querySelectorAll("[data-origin]")) origin.textContent = location.origin;
offerThemes(document.getElementById("theme"));
listenToKeys();
listenToGaps();
setInterval(() => tellAges(), AGES_EVERY_MS);

const list = document.querySelector("[data-live=list]");
if (list) rememberList();
else leadBackToList();
if (list && !("paused" in list.dataset)) followList(list);
const ticket = document.querySelector("[data-live=ticket]");
if (ticket) followTicket(ticket);
