// Follows what the gateway tells as it happens.

export const KINDS = ["received", "planning", "retrieved", "candidate", "drafted", "asked", "planned", "refused", "failed", "retried", "caught_up", "resolved", "repeated", "reopened", "triaged", "assigned", "marked", "judged", "edited", "accepted", "rejected", "taken_back", "doubted"];

export function follow(address, kinds, onEvent, onAgain = () => {}) {
  // A hidden tab gives its connection back: browsers allow only six to one address.
  let stream = null;
  let first = true;
  const turn = () => {
    if (document.hidden) {
      stream?.close();
      stream = null;
    } else if (stream === null) {
      stream = new EventSource(address());
      for (const kind of kinds) stream.addEventListener(kind, (event) => onEvent(kind, event));
      if (!first) onAgain();
      first = false;
    }
  };
  const stop = () => {
    document.removeEventListener("visibilitychange", turn);
    stream?.close();
  };
  document.addEventListener("visibilitychange", turn);
  turn();
  return stop;
}
