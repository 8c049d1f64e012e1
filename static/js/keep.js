/* Keeps what was typed until the server says that it has it.
 *
 * A form marked `data-keep="name"` is saved in sessionStorage as it is typed, so that an
 * expired login, a refused form or a crash loses nothing. The draft goes when the server
 * answers with an element marked `data-kept="name"` (see `bouts.htmx.confirm_kept`), when
 * the person discards it, or at sign-out. It belongs to one person on one page.
 */
const PREFIX = "keep:";
const NEVER_KEPT = new Set(["password", "file", "hidden", "submit", "button"]);

const person = document.body.dataset.user ?? "";

const keyOf = (form) => `${PREFIX}${person}:${location.pathname}:${form.dataset.keep}`;

const fieldsOf = (form) =>
  [...form.elements].filter((field) => field.name && !NEVER_KEPT.has(field.type));

const isTicked = (field) => field.type === "checkbox" || field.type === "radio";

/** Return the form's content as [name, value] pairs; boxes and radios only where ticked. */
function contentOf(form) {
  return fieldsOf(form).flatMap((field) => {
    if (isTicked(field)) return field.checked ? [[field.name, field.value]] : [];
    if (field.type === "select-multiple") {
      return [...field.selectedOptions].map((option) => [field.name, option.value]);
    }
    return [[field.name, field.value]];
  });
}

function fill(form, content) {
  for (const field of fieldsOf(form)) {
    const values = content.filter(([name]) => name === field.name).map(([, value]) => value);
    if (isTicked(field)) field.checked = values.includes(field.value);
    else if (field.type === "select-multiple") {
      for (const option of field.options) option.selected = values.includes(option.value);
    } else if (values.length) field.value = values[0];
  }
}

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

function write(key, content) {
  try {
    sessionStorage.setItem(key, JSON.stringify(content));
  } catch {
    /* Storage is full or refused: the form still works, it is only not kept. */
  }
}

function drop(test) {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX) && test(key)) sessionStorage.removeItem(key);
  }
}

function offerDiscard(form, original) {
  const note = document.createElement("p");
  note.className = "note kept-note";
  note.setAttribute("role", "status");
  note.append("What you had typed here is back. ");
  const discard = document.createElement("button");
  discard.type = "button";
  discard.className = "link";
  discard.textContent = "Discard it";
  discard.addEventListener("click", () => {
    sessionStorage.removeItem(keyOf(form));
    fill(form, original);
    note.remove();
    form.dispatchEvent(new Event("change", { bubbles: true }));
    sessionStorage.removeItem(keyOf(form));
  });
  note.append(discard);
  form.prepend(note);
}

function restore(form) {
  if (form.dataset.keepReady) return;
  form.dataset.keepReady = "yes";
  const original = contentOf(form);
  const draft = read(keyOf(form));
  if (!draft || JSON.stringify(draft) === JSON.stringify(original)) return;
  fill(form, draft);
  offerDiscard(form, original);
  // Live previews of the form read it again.
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

function look(root) {
  // Confirmations first: a page may confirm one draft and show the empty form again.
  for (const sign of root.querySelectorAll("[data-kept]")) {
    drop((key) => key.endsWith(`:${sign.dataset.kept}`) && key.startsWith(`${PREFIX}${person}:`));
  }
  for (const form of root.querySelectorAll("form[data-keep]")) restore(form);
}

for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    const form = event.target.form ?? event.target;
    if (form instanceof HTMLFormElement && form.dataset.keep) write(keyOf(form), contentOf(form));
  });
}

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-sign-out]")) drop(() => true);
});

document.addEventListener("htmx:afterSettle", (event) => look(event.target.parentElement ?? document));
look(document);
