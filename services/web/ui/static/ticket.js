// Follows one ticket: its walk, and the work on its workflow.
import { KINDS, PROGRESS } from "./events.js";
import { follow } from "./streams.js";

export function followTicket(ticket) {
  let { after } = ticket.dataset;
  const id = encodeURIComponent(ticket.dataset.ticket);
  const address = () => `/v1/tickets/${id}/events?follow=true&after=${encodeURIComponent(after)}`;
  const work = () => ticket.dispatchEvent(new Event("flowxpert:work"));
  follow(address, KINDS, (kind, event) => {
    after = event.lastEventId || after;
    document.querySelector(`#progress [data-kind="${kind}"]`)?.classList.add("reached");
    if (!PROGRESS.includes(kind)) work();
  }, work);
}
