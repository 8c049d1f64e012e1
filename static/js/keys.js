/* Keys for those who work through a queue; everything they do can be done by mouse.
 *
 * An element marked `data-key="n"` is pressed by that key. In a table marked `data-rows` J
 * and K move from row to row, Enter opens the marked row and C claims it. On a form marked
 * `data-levels` J and K move from criterion to criterion and 1 to 5 choose a level. Nothing
 * fires while somebody types, or with Alt, Ctrl or Meta held; and a switch, kept in this
 * browser, turns all of it off. `Ctrl Enter` sends the form that is being typed in: it is
 * no single key, so the switch leaves it.
 */
const SWITCH = "keys";

const areOff = () => {
  try {
    return localStorage.getItem(SWITCH) === "off";
  } catch {
    return false;
  }
};

const remember = (on) => {
  try {
    if (on) localStorage.removeItem(SWITCH);
    else localStorage.setItem(SWITCH, "off");
  } catch {
    /* The choice then holds for this page only. */
  }
};

const dialog = document.getElementById("keys");
const toggle = document.getElementById("keys-on");

const isTyping = (target) =>
  target.isContentEditable || target.matches("input:not([type=radio], [type=checkbox]), textarea, select");

const isPressable = (target) => target.matches("a[href], button, summary, input");

function move(items, step) {
  const at = items.findIndex((item) => item.classList.contains("is-next"));
  const next = items[Math.min(items.length - 1, Math.max(0, at < 0 ? 0 : at + step))];
  if (!next) return;
  mark(items, next);
  next.querySelector("a[href], input:checked, input")?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function mark(items, chosen) {
  for (const item of items) item.classList.toggle("is-next", item === chosen);
}

const rows = () => [...document.querySelectorAll("[data-rows] tbody tr")];
const criteria = () => [...document.querySelectorAll("[data-levels] .criterion")];
const marked = (items) => items.find((item) => item.classList.contains("is-next"));

/** Return what a key does here, or nothing. */
function deedOf(key, target) {
  const presses = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (presses) return () => presses.click();
  const items = rows().length ? rows() : criteria();
  if (key === "j") return () => move(items, 1);
  if (key === "k") return () => move(items, -1);
  if (key === "?" && dialog) return () => dialog.showModal();
  if (key === "/") {
    const field = document.querySelector(".filters select, .filters input:not([type=hidden])");
    return field && (() => field.focus());
  }
  const row = marked(rows());
  if (key === "c") {
    const claim = row?.querySelector("[data-claim]");
    return claim && (() => claim.click());
  }
  if (key === "enter" && !isPressable(target)) {
    const link = row?.querySelector("th a");
    return link && (() => link.click());
  }
  if (/^[1-5]$/.test(key)) {
    const level = marked(criteria())?.querySelector(`input[value="${key}"]`);
    return level && (() => level.click());
  }
  return undefined;
}

document.addEventListener("keydown", (event) => {
  const { target } = event;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && target.form) {
    event.preventDefault();
    target.form.requestSubmit(target.form.querySelector("[data-send]"));
    return;
  }
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || event.repeat) return;
  if (areOff() || dialog?.open || isTyping(target)) return;
  const deed = deedOf(event.key.toLowerCase(), target);
  if (!deed) return;
  event.preventDefault();
  deed();
});

// Whoever moves by mouse or Tab marks the row or criterion they are at.
document.addEventListener("focusin", ({ target }) => {
  for (const items of [rows(), criteria()]) {
    const item = items.find((each) => each.contains(target));
    if (item) mark(items, item);
  }
});

if (toggle) {
  toggle.checked = !areOff();
  toggle.addEventListener("change", () => remember(toggle.checked));
}
