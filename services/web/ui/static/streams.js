// Follows what the gateway tells as it happens.

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
      stream.onerror = () => { if (stream?.readyState === EventSource.CLOSED) onAgain(); }; // refused
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
