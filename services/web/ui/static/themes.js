// The button that goes from the system's choice to dark to light and back.
import { store } from "./stored.js";

const NEXT = { system: "dark", dark: "light", light: "system" };

export function offerThemes(button) {
  const root = document.documentElement;
  const tell = () => {
    const theme = root.dataset.theme ?? "system";
    button.setAttribute("aria-label", `Theme: ${theme}. Change to ${NEXT[theme]}`);
    button.title = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    const next = NEXT[root.dataset.theme ?? "system"];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    store("localStorage", "theme", next === "system" ? null : next);
    tell();
  });
  tell();
  button.hidden = false;
}
