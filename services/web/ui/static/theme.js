// Loaded before anything is painted, and so no module: a stored choice of light or dark.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; then the system's choice holds.
}
