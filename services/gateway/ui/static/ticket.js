// Follows one ticket: its walk, after which the page comes again, and the work on its workflow.
import { BEGINNINGS, ENDS, KINDS } from "./events.js";
import { follow } from "./streams.js";

export function followTicket(ticket) {
  let { after } = ticket.dataset;
  const id = encodeURIComponent(ticket.dataset.ticket);
  const address = () => `/v1/tickets/${id}/events?follow=true&after=${encodeURIComponent(after)}`;
  const work = () => ticket.dispatchEvent(new Event("flowxpert:work"));
  const stop = follow(address, KINDS, (kind, event) => {
    after = event.lastEventId || after;
    document.querySelector(`#progress [data-kind="${kind}"]`)?.classList.add("reached");
    if (ENDS.includes(kind) || BEGINNINGS.includes(kind)) {
      stop();
      location.reload();
    } else {
      work();
    }
  }, work);
}
