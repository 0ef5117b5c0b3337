// A chart of the last hour: a line for each series, over one axis of time.
//
// It is drawn as SVG, so that its colours come from the style sheet, and light and dark need nothing more.

import { bytes, locale } from "./texts.js";
import { html, useState } from "./view.js";

const [WIDTH, HEIGHT] = [300, 96];
// Milliseconds without a sample, after which a line has a gap: the server was away.
const GAP = 20_000;

// The next round number above a value; bytes are round in units of 1024.
function round(value, format) {
  if (!(value > 0)) return 1;
  if (format === bytes && value >= 1024) {
    const unit = 1024 ** Math.floor(Math.log(value) / Math.log(1024));
    return round(value / unit) * unit;
  }
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

// Lines of a series; where it has no value, the line has a gap.
function lines(points) {
  let [path, drawing] = ["", false];
  for (const [x, y] of points) {
    if (y === null) drawing = false;
    else {
      path += `${drawing ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      drawing = true;
    }
  }
  return path;
}

// Values between two gaps are dots.
const dots = (points) =>
  points
    .filter(([, y], i) => y !== null && (points[i - 1]?.[1] ?? null) === null && (points[i + 1]?.[1] ?? null) === null)
    .map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h.01`)
    .join("");

export function Chart({ title, samples, series, format, span }) {
  const [hover, setHover] = useState(null);
  const last = samples.at(-1);
  const end = last?.at ?? Date.now();
  const values = series.flatMap(({ name }) => samples.map((sample) => sample[name] ?? 0));
  const most = round(Math.max(0, ...values), format);
  const x = (sample) => WIDTH - ((end - sample.at) / span) * WIDTH;
  const y = (value) => HEIGHT - 3 - (value / most) * (HEIGHT - 10);
  const pointsOf = (name) => samples.flatMap((sample, i) => {
    const point = [x(sample), sample[name] === undefined ? null : y(sample[name])];
    return i > 0 && sample.at - samples[i - 1].at > GAP ? [[point[0], null], point] : [point];
  });
  const shown = (hover !== null && samples[hover]) || last;
  const move = (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const time = end - span * (1 - (event.clientX - left) / width);
    const distance = (sample) => Math.abs(sample.at - time);
    setHover(samples.reduce((best, sample, i) => (distance(sample) < distance(samples[best] ?? sample) ? i : best), 0));
  };
  const text = (value) => (value === undefined ? "–" : format(value));
  return html`<section class="card chart" aria-label=${title}>
    <header><h2>${title}</h2><span class="faint">${hover !== null && shown ? new Date(shown.at).toLocaleTimeString(locale()) : ""}</span></header>
    <dl>
      ${series.map(
        ({ name, label }, i) => html`<div key=${name} class=${`series s${i}`}><dt><i></i>${label}</dt><dd>${text(shown?.[name])}</dd></div>`,
      )}
    </dl>
    <div class="plot">
      <span class="most faint" aria-hidden="true">${format(most)}</span>
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" onPointerMove=${move} onPointerLeave=${() => setHover(null)}>
        <path class="grid" d=${`M0 ${y(0)}H${WIDTH}M0 ${y(most / 2)}H${WIDTH}M0 ${y(most)}H${WIDTH}`} />
        ${series.map(({ name, area }, i) => {
          const points = pointsOf(name);
          const filled = area && points.length > 1 && points.every(([, y]) => y !== null);
          return html`<g key=${name} class=${`s${i}`}>
            ${filled && html`<path class="area" d=${`M${points[0][0].toFixed(1)} ${y(0)}${lines(points).replace("M", "L")}V${y(0)}Z`} />`}
            <path class="line" d=${lines(points)} /><path class="line dots" d=${dots(points)} /></g>`;
        })}
        ${hover !== null && shown && html`<path class="at" d=${`M${x(shown).toFixed(1)} 0V${HEIGHT}`} />`}
      </svg>
    </div>
  </section>`;
}
