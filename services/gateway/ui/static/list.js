// Refreshes a list in place whenever something happens to a ticket.
import { tellAges } from "./ages.js";
import { KINDS, follow } from "./streams.js";

const QUIET_MS = 400;

export function followList(list) {
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
  const soon = () => { timer ??= setTimeout(refresh, QUIET_MS); };
  follow(() => "/v1/events", KINDS, soon, soon);
}
