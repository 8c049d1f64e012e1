/* Evidence that opens beside what it proves.
 *
 * Every evidence link is a page of its own. With script a click puts that page's panel under
 * the paragraph, list or row in which the link stands; a second click, Escape or "Close"
 * takes it away again. A click with Ctrl, Shift or the middle button opens the page.
 */
const panels = new WeakMap(); // link -> panel
const WAITING = "Fetching…";
let count = 0;

const isPlain = (event) =>
  event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

/** Return the element after which a link's panel goes. */
const hostOf = (link) =>
  link.closest("li, .evidence-list, p, pre, figure") ?? link.closest("td, th") ?? link.parentElement;

function place(link, panel) {
  const row = link.closest("tr");
  const figure = link.closest("figure");
  if (figure) return figure.after(panel);
  // Below seats that stand side by side, since a column of them is too narrow for code.
  const seats = link.closest(".seats");
  if (seats && getComputedStyle(seats).gridTemplateColumns.includes(" ")) return seats.after(panel);
  if (!row) return hostOf(link).after(panel);
  // In a table the panel gets a row of its own, as wide as the table.
  const holder = document.createElement("tr");
  holder.className = "evidence-row";
  const cell = holder.insertCell();
  cell.colSpan = [...row.cells].reduce((sum, one) => sum + one.colSpan, 0);
  cell.append(panel);
  row.after(holder);
}

function close(link) {
  const panel = panels.get(link);
  if (!panel) return;
  (panel.closest(".evidence-row") ?? panel).remove();
  panels.delete(link);
  link.removeAttribute("aria-expanded");
  link.removeAttribute("aria-controls");
  link.focus();
}

async function open(link) {
  const panel = document.createElement("section");
  panel.className = "evidence-panel";
  panel.id = `evidence-${++count}`;
  panel.tabIndex = -1;
  panel.setAttribute("aria-label", `Evidence: ${link.textContent.trim()}`);
  panel.setAttribute("aria-busy", "true");
  panel.textContent = WAITING;
  place(link, panel);
  panels.set(link, panel);
  panel.link = link;
  link.setAttribute("aria-expanded", "true");
  link.setAttribute("aria-controls", panel.id);
  try {
    await window.htmx.ajax("GET", link.href, { source: link, target: panel, swap: "innerHTML" });
  } catch {
    /* page.js has told that no answer came. */
  }
  panel.removeAttribute("aria-busy");
  if (panel.textContent === WAITING) return close(link);
  panel.focus({ preventScroll: true });
  panel.scrollIntoView({ block: "nearest" });
}

document.addEventListener("click", (event) => {
  if (!isPlain(event)) return;
  const closer = event.target.closest("[data-close]");
  const shut = closer?.closest(".evidence-panel");
  if (shut?.link) {
    event.preventDefault();
    return close(shut.link);
  }
  const link = event.target.closest("a.ev");
  if (link && !link.closest(".evidence-panel")) {
    event.preventDefault();
    return panels.has(link) ? close(link) : open(link);
  }
  // A tab or a page of one, where the evidence stands on the match's own page.
  const part = event.target.closest("[data-in-place] a[data-part]");
  if (part) {
    event.preventDefault();
    swapTab(part.href.baseVal ?? part.href, part);
  }
});

document.addEventListener("keydown", (event) => {
  const panel = event.key === "Escape" && event.target.closest?.(".evidence-panel");
  if (panel?.link) close(panel.link);
});

// A judge's card that was folded opens for whoever is led to it.
function unfold() {
  const card = document.getElementById(location.hash.slice(1))?.closest("details.judge-card");
  if (card) card.open = true;
}
window.addEventListener("hashchange", unfold);

let wanted; // the address of the tab that was asked for last

/** Put a tab in the place of the one that stands, on behalf of a link. */
async function swapTab(address, link, { isNew = true } = {}) {
  near?.disconnect();
  // The page keeps its address; which tab stands in it is remembered for Back and for reload.
  if (isNew && history.state?.tab !== address) history.pushState({ tab: address }, "");
  wanted = address;
  try {
    await window.htmx.ajax("GET", address, { source: link, target: "#evidence-tab", swap: "outerHTML" });
  } catch {
    return; /* page.js has told that no answer came. */
  }
  const [, fragment] = address.split("#");
  if (fragment) document.getElementById(fragment)?.scrollIntoView({ block: "nearest" });
}

// Of two tabs that were asked for, the later one stays, whichever answer comes first.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, requestConfig } = event.detail;
  if (target.id === "evidence-tab" && requestConfig.path !== wanted) event.detail.shouldSwap = false;
});

// The first tab is fetched when the reader comes near it, so that the page itself is light.
const lazy = document.querySelector("#evidence-tab[data-first]");
const near =
  lazy &&
  new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      swapTab(lazy.dataset.first, lazy, { isNew: false });
    },
    { rootMargin: "600px" },
  );
if (history.state?.tab && lazy) swapTab(history.state.tab, lazy, { isNew: false });
else near?.observe(lazy);

window.addEventListener("popstate", (event) => {
  const tab = document.getElementById("evidence-tab");
  const address = event.state?.tab ?? lazy?.dataset.first;
  if (lazy && tab && address && !event.state?.htmx) swapTab(address, tab, { isNew: false });
});
