// Follows one ticket: its walk, after which the page comes again, and the work on its workflow.
import { KINDS, follow } from "./streams.js";

const FINAL = new Set(["planned", "refused", "failed"]);
const AGAIN = new Set(["answered", "retried", "caught_up"]);

export function followTicket(ticket) {
  let { after } = ticket.dataset;
  const id = encodeURIComponent(ticket.dataset.ticket);
  const address = () => `/v1/tickets/${id}/events?follow=true&after=${encodeURIComponent(after)}`;
  const stop = follow(address, KINDS, (kind, event) => {
    after = event.lastEventId || after;
    document.querySelector(`#progress [data-kind="${kind}"]`)?.classList.add("reached");
    if (FINAL.has(kind) || AGAIN.has(kind)) {
      stop();
      location.reload();
    } else {
      ticket.dispatchEvent(new Event("flowxpert:work"));
    }
  });
}
