// Makes one tree like another and keeps what is alike: focus, selection, scroll and what is open.
// What has an id or a `data-key` is found again wherever it has moved to.

export function morph(old, fresh) {
  const focused = document.activeElement;
  take(old, fresh);
  if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
}

function take(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (!isSame(old, fresh)) old.replaceWith(fresh);
  else if (old.nodeType !== Node.ELEMENT_NODE) old.data = fresh.data;
  else {
    takeAttributes(old, fresh);
    takeChildren(old, fresh);
  }
}

function takeChildren(old, fresh) {
  const wanted = new Set([...fresh.children].map(keyOf));
  for (const child of [...old.children]) if (!wanted.has(keyOf(child))) child.remove();
  const known = new Map([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let place = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    const match = known.get(keyOf(child)) ?? (place && isSame(place, child) ? place : null);
    if (match === null) old.insertBefore(child, place);
    else {
      if (match === place) place = place.nextSibling;
      else old.insertBefore(match, place);
      take(match, child);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function keyOf(node) {
  return node.id || node.dataset?.key || "";
}

function isSame(old, fresh) {
  return old.nodeName === fresh.nodeName && keyOf(old) === keyOf(fresh);
}

function takeAttributes(old, fresh) {
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}
