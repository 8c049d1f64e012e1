/* A case while somebody works on it: the lease, the draft, and the own score as it grows.
 *
 * The page sends what is typed to the server soon after it is typed, and a heartbeat while
 * the person is there: both renew the lease. A page that nobody touches lets it lapse.
 */
const DRAFT_AFTER_MS = 800;
const HEARTBEAT_MS = 60_000;
const AWAY_AFTER_MS = 5 * 60_000;
const LEVELS = 7;

const bar = document.getElementById("claim-bar");
const form = document.querySelector("form[data-draft]");

if (bar) holdCase();
for (const sheet of document.querySelectorAll("[data-levels]")) countLevels(sheet.closest("form"));

// One press opens what the levels of all criteria mean, and another closes it.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-anchors]");
  if (!button) return;
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!isOpen));
  for (const details of button.closest("form").querySelectorAll(".criterion details")) details.open = !isOpen;
});

function holdCase() {
  let until = Date.parse(bar.dataset.lease);
  let touchedAt = Date.now();
  let isOver = false;
  let timer;

  const left = bar.querySelector("[data-left]");
  const saved = bar.querySelector("[data-saved]");

  async function send() {
    clearTimeout(timer);
    timer = undefined;
    if (isOver) return;
    const body = new FormData(form ?? undefined);
    if (!form) body.set("csrfmiddlewaretoken", bar.querySelector("[name=csrfmiddlewaretoken]").value);
    try {
      const answer = await fetch(bar.dataset.heartbeat, { method: "POST", body });
      if (answer.redirected || answer.status === 403) {
        saved.textContent = "You are signed out. What you typed stays in this browser; sign in again to go on.";
      } else if (answer.ok) {
        until = Date.parse((await answer.json()).expires_at);
        saved.textContent = `Draft saved ${new Date().toISOString().slice(11, 16)} UTC`;
      } else if (answer.status === 409) {
        end((await answer.json()).detail);
      } else {
        saved.textContent = "The draft could not be saved; it stays in this browser.";
      }
    } catch {
      saved.textContent = "No answer from the server; the draft stays in this browser.";
    }
  }

  function end(detail) {
    isOver = true;
    bar.classList.add("is-lapsed");
    left.textContent = `${detail} What you typed is kept.`;
    const again = document.createElement("a");
    again.className = "button";
    again.href = location.pathname.replace(/(\/cases\/\d+\/).*/, "$1");
    again.textContent = "Reload the case";
    bar.querySelector("form").replaceWith(again);
  }

  function tick() {
    if (isOver) return;
    const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
    const isAway = Date.now() - touchedAt > AWAY_AFTER_MS;
    left.textContent = `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s left, ${isAway ? "not renewed: are you there?" : "renewed while you work"}`;
    if (seconds === 0) end("Your claim has lapsed.");
  }

  for (const kind of ["input", "change"]) {
    form?.addEventListener(kind, () => {
      clearTimeout(timer);
      timer = setTimeout(send, DRAFT_AFTER_MS);
    });
  }
  for (const kind of ["keydown", "pointerdown", "scroll"]) {
    addEventListener(kind, () => { touchedAt = Date.now(); }, { passive: true });
  }
  // What was typed in the last moment before leaving is sent as the page goes.
  addEventListener("pagehide", () => {
    if (form && timer && !isOver) navigator.sendBeacon(bar.dataset.heartbeat, new FormData(form));
  });
  form?.addEventListener("submit", () => { clearTimeout(timer); timer = undefined; });
  setInterval(tick, 1000);
  setInterval(() => { if (Date.now() - touchedAt < AWAY_AFTER_MS) send(); }, HEARTBEAT_MS);
}

/** Show the mean of the chosen levels, and beside each criterion what its level means. */
function countLevels(sheet) {
  const total = sheet.querySelector("[data-own]");
  const score = sheet.querySelector("[data-own-score]");

  function count() {
    const chosen = [...sheet.querySelectorAll(".level-row input:checked")];
    for (const input of chosen) {
      input.closest(".criterion").querySelector("[data-chosen]").textContent =
        `${input.value} ${input.dataset.short}`;
    }
    total.hidden = chosen.length < LEVELS;
    const points = chosen.reduce((sum, input) => sum + 25 * (Number(input.value) - 1), 0);
    score.textContent = (points / LEVELS).toFixed(2);
  }

  sheet.addEventListener("change", count);
  count();
}
