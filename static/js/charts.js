/* Pictures that Plotly draws: fetched when one comes near the screen, in the colours of the page.
 *
 * A figure marked `data-plot` names the element with its data, and `data-plotly` the script.
 * Colours in the data are names of custom properties, such as `--pen`. Without script the table
 * beside the picture has every number of it.
 */
const NEAR = "400px";
let fetched; // the promise of the script, once it is asked for

const plotly = (address) =>
  (fetched ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(window.Plotly);
    script.onerror = reject;
    document.head.append(script);
  }));

/** Return the colour that a custom property has now: the scheme decides, so an element is asked. */
function colourOf(name) {
  const probe = document.createElement("span");
  probe.className = "plot-colour";
  document.body.append(probe);
  probe.style.color = `var(${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const coloured = (value) => {
  if (typeof value === "string") return value.startsWith("--") ? colourOf(value) : value;
  if (Array.isArray(value)) return value.map(coloured);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, coloured(one)]));
  }
  return value;
};

async function draw(figure) {
  const { data, layout } = coloured(JSON.parse(document.getElementById(figure.dataset.plot).textContent));
  let Plotly;
  try {
    Plotly = await plotly(figure.dataset.plotly);
  } catch {
    figure.hidden = true; // the table stands beside it
    return;
  }
  const ink = colourOf("--ink-2");
  const line = { gridcolor: colourOf("--hair"), linecolor: ink, zerolinecolor: colourOf("--hair") };
  const whole = {
    margin: { t: 8, r: 8, b: 48, l: 48 },
    height: 280,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, size: 12, family: getComputedStyle(document.body).fontFamily },
    legend: { orientation: "h", y: 1.12 },
    ...layout,
    xaxis: { ...line, ...layout.xaxis },
    yaxis: { ...line, ...layout.yaxis },
  };
  await Plotly.react(figure, data, whole, { displayModeBar: false, responsive: true });
  figure.dataset.drawn = "";
}

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      near.unobserve(entry.target);
      draw(entry.target);
    }
  },
  { rootMargin: NEAR },
);

const all = () => document.querySelectorAll("[data-plot]");
const drawn = () => document.querySelectorAll("[data-plot][data-drawn]");
const again = () => drawn().forEach(draw);

all().forEach((figure) => near.observe(figure));
document.addEventListener("htmx:afterSettle", () =>
  all().forEach((figure) => "drawn" in figure.dataset || near.observe(figure)),
);
// Another scheme, and paper, which is white: the picture is drawn anew.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
matchMedia("print").addEventListener("change", again);
new MutationObserver(again).observe(document.documentElement, { attributeFilter: ["data-theme"] });
