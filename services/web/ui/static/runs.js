// Keeps the page of a run or a search as it is, while it is not over and nobody writes.
import { tellAges } from "./ages.js";
import { morph } from "./morph.js";

const LOOK_EVERY_MS = 1000;
const LIVE = "article[data-live=run], article[data-live=search]";

async function look() {
  const run = document.querySelector(LIVE);
  if (!run || run.dataset.phase === "ended" || document.hidden) return;
  if (run.contains(document.activeElement) && document.activeElement.matches("input[type=text]")) return;
  const answer = await fetch(location.pathname, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector(LIVE);
  if (fresh) {
    morph(run, fresh);
    tellAges(run);
  }
}

setInterval(() => look().catch(() => {}), LOOK_EVERY_MS);
