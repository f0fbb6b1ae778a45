// Refreshes a list in place whenever something happens to a ticket, and remembers what it shows.
import { tellAges } from "./ages.js";
import { KINDS } from "./events.js";
import { morph } from "./morph.js";
import { store, stored } from "./stored.js";
import { follow } from "./streams.js";

const QUIET_MS = 300;
const AT_MOST_EVERY_MS = 1000;

export function followList(list) {
  let timer = null;
  let latest = -Infinity;
  let isLate = false;
  const refresh = async () => {
    latest = performance.now();
    isLate = false;
    try {
      await renew(list);
    } finally {
      timer = null;
      if (isLate) soon();
    }
  };
  const soon = () => {
    isLate = true;
    const wait = Math.max(QUIET_MS, latest + AT_MOST_EVERY_MS - performance.now());
    timer ??= setTimeout(() => refresh().catch(() => {}), wait);
  };
  follow(() => "/v1/events", KINDS, soon, soon);
}

async function renew(list) {
  const asked = location.href;
  const answer = await fetch(asked);
  if (answer.status === 401) location.reload(); // signed out: the page to sign in leads back here
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  if (!fresh || asked !== location.href) return;
  tellAges(fresh);
  const seen = [...list.querySelectorAll("tbody tr")].find(isInSight);
  const before = seen?.getBoundingClientRect().top;
  morph(list, fresh);
  if (scrollY && seen?.isConnected) scrollBy(0, seen.getBoundingClientRect().top - before);
}

function isInSight(row) {
  return row.getBoundingClientRect().top >= 0;
}

export function rememberList() {
  store("sessionStorage", "list", location.search);
}

export function leadBackToList() {
  const from = URL.parse(document.referrer);
  if (from?.origin === location.origin && from.pathname === "/") store("sessionStorage", "list", from.search);
  const search = stored("sessionStorage", "list");
  if (search?.startsWith("?")) for (const link of document.querySelectorAll("a[data-list]")) link.search = search;
}
