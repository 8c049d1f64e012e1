/* Keys for those who work through a queue; everything they do can be done by mouse.
 *
 * An element marked `data-key="n"` is pressed by that key. In a table marked `data-rows` J
 * and K move from row to row, Enter opens the marked row and C claims it. On a form marked
 * `data-levels` J and K move from criterion to criterion and 1 to 5 choose a level. A piece of
 * evidence, marked `data-quote` with the place that it stands at, is quoted by Q into the
 * reason, marked `data-reason`; the arrows go from one line of it to the next. Nothing
 * fires while somebody types, or with Alt, Ctrl or Meta held; and a switch, kept with the
 * person's account, turns all of it off. `Ctrl Enter` sends the form that is being typed in:
 * it is no single key, so the switch leaves it.
 */
const areOff = () => document.body.dataset.keys === "off";

/** Switch keys for this page at once, and have the account remember it. */
async function remember(on) {
  if (on) delete document.body.dataset.keys;
  else document.body.dataset.keys = "off";
  const token = document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
  const body = new FormData();
  body.set("csrfmiddlewaretoken", token);
  body.set("on", on ? "1" : "0");
  try {
    await fetch(toggle.dataset.switch, { method: "POST", body });
  } catch {
    /* The choice then holds for this page only. */
  }
}

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

/** Return what quotes the marked piece of evidence, where there is one and a reason to quote into. */
function quoteOf() {
  const piece = document.querySelector("[data-quote].is-quotable");
  const reason = document.querySelector("[data-reason]");
  if (!piece || !reason) return undefined;
  return () => quote(piece, reason);
}

/** Put a piece of evidence, with the place it stands at, where the cursor was in the reason. */
function quote(piece, reason) {
  const text = (piece.dataset.text ?? piece.textContent).trim().replace(/\s+/g, " ");
  const short = text.length > 300 ? `${text.slice(0, 299)}…` : text;
  const at = reason.selectionEnd ?? reason.value.length;
  const before = reason.value.slice(0, at);
  const gap = !before || before.endsWith("\n") ? "" : "\n";
  const line = `${gap}> ${short} [${piece.dataset.quote}]\n`;
  reason.setRangeText(line, at, at, "end");
  reason.dispatchEvent(new Event("input", { bubbles: true }));
  reason.focus();
}

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
  if (key === "q") return quoteOf();
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
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step && target.matches("tr[data-quote]")) {
    const lines = [...target.closest("tbody").querySelectorAll("tr[data-quote]")];
    const next = lines[lines.indexOf(target) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
    return;
  }
  if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing || event.repeat) return;
  if (areOff() || dialog?.open || isTyping(target)) return;
  const deed = deedOf(event.key.toLowerCase(), target);
  if (!deed) return;
  event.preventDefault();
  deed();
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-quote-button]")) quoteOf()?.();
  if (target.closest("[data-keys-open]")) dialog?.showModal();
});

// A piece of evidence that has got the focus stays marked, so that the button can quote it too.
document.addEventListener("focusin", ({ target }) => {
  const piece = target.closest("[data-quote]");
  if (!piece) return;
  for (const other of document.querySelectorAll(".is-quotable")) other.classList.remove("is-quotable");
  piece.classList.add("is-quotable");
  for (const button of document.querySelectorAll("[data-quote-button]")) {
    button.disabled = false;
    button.querySelector("span").textContent = button.dataset.quoteButton;
  }
});

// Whoever moves by mouse or Tab marks the row or criterion they are at.
document.addEventListener("focusin", ({ target }) => {
  for (const items of [rows(), criteria()]) {
    const item = items.find((each) => each.contains(target));
    if (item) mark(items, item);
  }
});

if (toggle) {
  toggle.addEventListener("change", () => remember(toggle.checked));
}
