/* Light, dark, or as the system says.
 *
 * Loaded in the head without `defer`: the choice must stand before the first paint.
 * Storage may be refused (private windows); then the system decides.
 */
(() => {
  "use strict";
  const KEY = "theme";
  const root = document.documentElement;

  const stored = () => {
    try {
      return localStorage.getItem(KEY) ?? "system";
    } catch {
      return "system";
    }
  };

  const store = (choice) => {
    try {
      if (choice === "system") localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, choice);
    } catch {
      /* The choice then holds for this page only. */
    }
  };

  const apply = (choice) => {
    if (choice === "light" || choice === "dark") root.dataset.theme = choice;
    else delete root.dataset.theme;
  };

  const tick = (choice) => {
    for (const option of document.querySelectorAll("#theme input")) {
      option.checked = option.value === choice;
    }
  };

  apply(stored());

  // On the document, since Back through htmx puts a new control in the old one's place.
  document.addEventListener("change", (event) => {
    if (!event.target.matches("#theme input")) return;
    store(event.target.value);
    apply(event.target.value);
  });
  for (const shown of ["DOMContentLoaded", "htmx:historyRestore"]) {
    document.addEventListener(shown, () => tick(stored()));
  }

  // Another tab chose: follow it.
  addEventListener("storage", (event) => {
    if (event.key !== KEY) return;
    apply(event.newValue ?? "system");
    tick(event.newValue ?? "system");
  });
})();
