/* Small manners that every page has: copying, dismissing, and saying when an answer fails. */
const SORRY = {
  0: "No answer from the server. Nothing was saved; try again.",
  403: "You may not do that. If you have just signed in again, reload the page first.",
  404: "That is no longer there. Reload the page.",
  413: "That is too large to send.",
  429: "Too many requests. Wait a little and try again.",
};

function toast(text) {
  const box = document.createElement("div");
  box.className = "toast is-bad";
  box.append(text, dismissButton());
  document.getElementById("toasts").append(box);
}

function dismissButton() {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.dataset.dismiss = "";
  button.textContent = "Dismiss";
  return button;
}

document.addEventListener("click", async (event) => {
  const dismiss = event.target.closest("[data-dismiss]");
  if (dismiss) dismiss.parentElement.remove();

  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const source = document.getElementById(copy.dataset.copy);
    source.select();
    try {
      await navigator.clipboard.writeText(source.value);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Selected: press Ctrl+C";
    }
  }
});

// A filter is applied as soon as it is chosen; without script its button does the same.
document.addEventListener("change", (event) => {
  if (event.target.matches("form[data-auto] select")) event.target.form.requestSubmit();
});

// The key "/" goes to the search. A page with keys of its own (keys.js) has its own "/", and
// whoever switched single keys off is obeyed here too.
document.addEventListener("keydown", (event) => {
  const { target } = event;
  const isModified = event.altKey || event.ctrlKey || event.metaKey || event.isComposing;
  if (event.key !== "/" || isModified || document.getElementById("keys")) return;
  if (target.isContentEditable || target.matches?.("input, textarea, select")) return;
  const field = document.getElementById("find");
  if (document.body.dataset.keys === "off" || !field) return;
  event.preventDefault();
  field.focus();
});

// Times are shown in the zone of the reader: theirs by choice, else what the browser says.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone) document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax`;

document.addEventListener("htmx:responseError", (event) => {
  const { status } = event.detail.xhr;
  toast(SORRY[status] ?? "The server failed on that. Nothing was saved; try again.");
});
for (const kind of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(kind, () => toast(SORRY[0]));
}
