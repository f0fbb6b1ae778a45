// Keeps the page of a run as the run is, while it is not over and nobody writes.
import { tellAges } from "./ages.js";
import { morph } from "./morph.js";

const LOOK_EVERY_MS = 1000;

async function look() {
  const run = document.querySelector("article[data-live=run]");
  if (!run || run.dataset.phase === "ended" || document.hidden) return;
  if (run.contains(document.activeElement) && document.activeElement.matches("input[type=text]")) return;
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("article[data-live=run]");
  if (fresh) {
    morph(run, fresh);
    tellAges(run);
  }
}

setInterval(() => look().catch(() => {}), LOOK_EVERY_MS);
