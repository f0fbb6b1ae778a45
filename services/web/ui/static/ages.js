// Keeps every `<time datetime>` telling how long ago it was.

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

export function tellAges(root = document) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const seconds = Math.floor((Date.now() - new Date(time.dateTime)) / 1000);
    const [size, unit] = UNITS.find(([s]) => seconds >= s) ?? [];
    time.textContent = unit ? `${Math.floor(seconds / size)} ${unit}` : "a moment";
  }
}
