// Keeps every `<time datetime>` telling how long ago it was.

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

export function tellAges() {
  for (const time of document.querySelectorAll("time[datetime]")) {
    const seconds = Math.max(0, (Date.now() - new Date(time.dateTime)) / 1000);
    const [size, unit] = UNITS.find(([s]) => seconds >= s) ?? [1, "s"];
    time.textContent = `${Math.floor(seconds / size)} ${unit}`;
  }
}
