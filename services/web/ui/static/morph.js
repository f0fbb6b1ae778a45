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
    const match = known.get(keyOf(child)) ?? next(place, child);
    while (match && !keyOf(match) && place !== match) place = dropped(place);
    if (match === null) old.insertBefore(child, place);
    else {
      if (match === place) place = place.nextSibling;
      else old.insertBefore(match, place);
      take(match, child);
    }
  }
  while (place) place = dropped(place);
}

// The node at this place if it is the same; what holds forms is looked for further on, so that what
// is written in them stays though something else has gone before them.
function next(place, child) {
  if (place && isSame(place, child)) return place;
  if (keyOf(child) || !child.querySelector?.("form")) return null;
  let found = place;
  while (found && !(isSame(found, child) && found.querySelector("form"))) found = found.nextSibling;
  return found ?? null;
}

function dropped(node) {
  const after = node.nextSibling;
  node.remove();
  return after;
}

function keyOf(node) {
  return node.dataset?.key || node.getAttribute?.("id") || ""; // `form.id` may be a field of this name
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
