// What a browser keeps of its user's choices; where storage is forbidden, nothing.

export function stored(store, name) {
  try {
    return window[store].getItem(name);
  } catch {
    return null;
  }
}

export function store(store, name, value) {
  try {
    if (value === null) window[store].removeItem(name);
    else window[store].setItem(name, value);
  } catch {
    // As if it had been forgotten.
  }
}
