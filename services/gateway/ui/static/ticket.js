// Follows one ticket's walk; the page comes again when it is over.
import { KINDS, follow } from "./streams.js";

const FINAL = new Set(["planned", "refused", "failed"]);

export function followTicket(ticket) {
  const { ticket: id, after } = ticket.dataset;
  const address = () => `/v1/tickets/${encodeURIComponent(id)}/events?after=${encodeURIComponent(after)}`;
  const stop = follow(address, KINDS, (kind) => {
    document.querySelector(`#progress [data-kind="${kind}"]`)?.classList.add("reached");
    if (FINAL.has(kind)) {
      stop();
      location.reload();
    }
  });
}
