// Plots of what the simulation measures: energies, momenta, the centre of mass, and points that a person has clicked on.
// Rows come by a socket of their own, some times a second; each plot is drawn on a small canvas.
const AXES = ["x", "y", "z"], AXIS_COLOURS = ["#d1495b", "#3c9d5d", "#3f78c9"];
const POINTS = 4, POINT_WIDTH = 4, BASE = 13, WIDTH = BASE + POINTS * POINT_WIDTH; // as supple.studio.plots.columns tells
const LONGEST = 4224; // rows that are kept
export const THIN = 600; // points that a line is drawn by, at most
const axes = (first) => AXES.map((name, k) => ({ name, colour: AXIS_COLOURS[k], of: (row) => row[first + k] }));
const energies = [
  { name: "kinetic", colour: "#e08a2e", of: (row) => row[1] },
  { name: "elastic", colour: "#3c9d5d", of: (row) => row[2] },
  { name: "gravity", colour: "#3f78c9", of: (row) => row[3] },
  { name: "total", colour: "", of: (row) => row[1] + row[2] + row[3] }, // in the colour of text
];
const MEASURES = [
  { key: "energy", title: "Energy", unit: "J", help: "Kinetic; stored in bodies, springs and contacts; of gravity and loads; their sum", lines: energies },
  { key: "momentum", title: "Momentum", unit: "kg m/s", help: "Linear momentum of all bodies", lines: axes(4) },
  { key: "angular", title: "Angular momentum", unit: "kg m²/s", help: "Of all bodies, about the origin", lines: axes(7) },
  { key: "centre", title: "Centre of mass", unit: "m", help: "Of all bodies", lines: axes(10) },
];

// of many points of a line those that are seen: the lowest and the highest of each of some stretches of time, in order
export function thinned(times, values, most = THIN) {
  const n = times.length;
  if (n <= most) return [times, values];
  const parts = Math.floor(most / 2), t = [], v = [];
  for (let k = 0; k < parts; ++k) {
    const start = Math.floor((k * n) / parts), end = Math.floor(((k + 1) * n) / parts);
    let low = start, high = start;
    for (let i = start; i < end; ++i) {
      if (values[i] < values[low] || Number.isNaN(values[low])) low = i;
      if (values[i] > values[high] || Number.isNaN(values[high])) high = i;
    }
    for (const i of low < high ? [low, high] : [high, low]) { t.push(times[i]); v.push(values[i]); }
  }
  return [t, v];
}

// round numbers between two, a few of them
export function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((found) => found >= rough * 0.999) || rough;
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(high / step + 1e-9) - first + 1) }, (_, k) => (first + k) * step);
}

export function written(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size < 1e-12) return "0";
  return size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

export default {
  template: `<div class="supple-plots">
      <div role="group" aria-label="Which plots are shown" class="supple-chips">
        <button v-for="plot in measures" :key="plot.key" type="button" class="supple-live" :title="plot.help"
          :aria-pressed="hidden[plot.key] ? 'false' : 'true'" @click="hidden[plot.key] = !hidden[plot.key]">{{ plot.title }}</button>
      </div>
      <figure v-for="plot in shown" :key="plot.key">
        <figcaption>
          <b :title="plot.help">{{ plot.title }} [{{ plot.unit }}]</b>
          <button v-if="plot.number" type="button" class="supple-live" :aria-label="'Remove ' + plot.title" title="Remove" @click="untrack(plot.number)">×</button>
        </figcaption>
        <canvas role="img" :aria-label="told[plot.key] || plot.title" :data-plot="plot.key" title="Click to look back to a moment"
          @pointermove="at = momentOf($event)" @pointerleave="at = null" @click="seek($event)"></canvas>
        <ul :aria-label="plot.title + ', values'">
          <li v-for="(line, k) in plot.lines" :key="line.name"><i :style="{ background: line.colour || 'currentColor' }"></i>{{ line.name }} <output>{{ values[plot.key]?.[k] ?? "–" }}</output></li>
        </ul>
      </figure>
    </div>`,
  data: () => ({ hidden: {}, points: [], told: {}, values: {}, at: null }),
  props: { open: Boolean },
  computed: {
    measures: () => MEASURES,
    shown() {
      const own = this.points.flatMap((point, k) => {
        if (!point) return [];
        const first = BASE + POINT_WIDTH * k, { number, name } = point;
        return [
          { key: `place ${number}`, number, title: name, unit: "m", help: "Where the point is", lines: axes(first) },
          { key: `speed ${number}`, title: `${name}, speed`, unit: "m/s", help: "How fast the point is",
            lines: [{ name: "speed", colour: "#e08a2e", of: (row) => row[first + 3] }] },
        ];
      });
      return [...own, ...MEASURES.filter((plot) => !this.hidden[plot.key])];
    },
  },
  watch: {
    open(on) { if (on) this.listen(); else this.socket?.close(); },
    at() { this.redraw(); },
    shown() { this.$nextTick(() => this.draw()); },
  },
  mounted() {
    this.rows = [];
    this.described = 0;
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.$el);
    this.theme = new MutationObserver(() => this.redraw());
    this.theme.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    window.supplePlots = this;
    if (this.open) this.listen();
  },
  unmounted() {
    this.closed = true;
    this.observer.disconnect();
    this.theme.disconnect();
    this.socket?.close();
  },
  methods: {
    listen() {
      const socket = new WebSocket(`ws://${location.host}/plots`);
      this.socket = socket;
      socket.binaryType = "arraybuffer";
      socket.onopen = () => socket.send("next");
      socket.onmessage = ({ data }) => {
        this.take(data);
        socket.send("next");
      };
      socket.onclose = () => setTimeout(() => !this.closed && this.open && socket === this.socket && this.listen(), 1000);
    },
    untrack(number) {
      if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(`untrack ${number}`);
    },
    take(data) {
      const length = new DataView(data).getUint32(0, true);
      const { anew, points } = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
      const numbers = new Float64Array(data, 4 + length);
      if (anew) this.rows = [];
      for (let k = 0; k + WIDTH <= numbers.length; k += WIDTH) this.rows.push(numbers.subarray(k, k + WIDTH));
      if (this.rows.length > LONGEST) this.rows.splice(0, this.rows.length - LONGEST);
      if (JSON.stringify(points) !== JSON.stringify(this.points)) this.points = points;
      this.redraw();
    },
    // with the next picture, once, however much has come: where pictures take long, plots are drawn no more often
    redraw() {
      this.waiting ??= requestAnimationFrame(() => {
        this.waiting = null;
        this.draw();
      });
    },
    momentOf(event) {
      const box = event.target.getBoundingClientRect(), [begin, end] = this.span();
      return begin + ((event.clientX - box.left) / box.width) * (end - begin);
    },
    seek(event) { if (this.rows.length > 1) this.$emit("seek", this.momentOf(event)); },
    span() {
      return this.rows.length ? [this.rows[0][0], Math.max(this.rows.at(-1)[0], this.rows[0][0] + 1e-9)] : [0, 1];
    },
    draw() {
      if (!this.open || this.closed) return;
      const times = this.rows.map((row) => row[0]), [begin, end] = this.span();
      const row = this.at === null ? this.rows.at(-1) : this.rows[nearest(times, this.at)];
      for (const plot of this.shown) {
        const canvas = this.$el.querySelector(`canvas[data-plot="${plot.key}"]`);
        if (canvas) drawPlot(canvas, plot, times, this.rows, begin, end, this.at);
        if (row) this.values[plot.key] = plot.lines.map((line) => written(line.of(row)));
      }
      const now = performance.now(), due = now - this.described >= 1000; // words change slowly: somebody may listen to them
      if (due) this.described = now;
      for (const plot of this.shown)
        if (due || !this.told[plot.key]) this.told[plot.key] = `${plot.title} in ${plot.unit} from ${begin.toFixed(1)} to ${end.toFixed(1)} s; now `
          + plot.lines.map((line, k) => `${line.name} ${this.values[plot.key]?.[k] ?? "unknown"}`).join(", ");
    },
  },
};

function nearest(times, at) {
  let low = 0, high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < at) low = middle + 1;
    else high = middle;
  }
  return low > 0 && at - times[low - 1] < times[low] - at ? low - 1 : low;
}

function drawPlot(canvas, plot, times, rows, begin, end, at) {
  const ratio = window.devicePixelRatio || 1, wide = canvas.clientWidth, tall = canvas.clientHeight;
  if (!wide || !tall) return;
  if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(tall * ratio)) {
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(tall * ratio);
  }
  // drawn by the processor: lines on a graphics card wait there for the picture of the scene, and the whole page with them
  const pen = canvas.getContext("2d", { willReadFrequently: true }), ink = getComputedStyle(canvas).color;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, wide, tall);
  const lines = plot.lines.map((line) => [line, ...thinned(times, rows.map(line.of))]);
  let low = Infinity, high = -Infinity;
  for (const [, , values] of lines)
    for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
  if (!(low <= high)) [low, high] = [0, 1];
  const least = 1e-9 * Math.max(Math.abs(low), Math.abs(high)) || 1e-9; // what is smaller is round-off
  if (high - low < least) [low, high] = [low - least, high + least];
  const room = 0.08 * (high - low);
  [low, high] = [low - room, high + room];
  const foot = tall - 14, x = (t) => ((t - begin) / (end - begin)) * wide, y = (value) => foot * (1 - (value - low) / (high - low));
  pen.font = "10px system-ui, sans-serif";
  pen.lineWidth = 1;
  pen.fillStyle = pen.strokeStyle = ink;
  for (const value of ticks(low, high, 4)) {
    pen.globalAlpha = Math.abs(value) < 1e-9 * (high - low) ? 0.45 : 0.14;
    line(pen, [0, wide], [y(value), y(value)]);
    pen.globalAlpha = 0.75;
    pen.textAlign = "left";
    pen.fillText(written(value), 2, Math.max(9, y(value) - 2));
  }
  pen.textAlign = "center";
  for (const value of end - begin > 1e-6 ? ticks(begin, end, 4) : []) { // none of a single moment
    if (x(value) < 8 || x(value) > wide - 14) continue;
    pen.globalAlpha = 0.14;
    line(pen, [x(value), x(value)], [0, foot]);
    pen.globalAlpha = 0.75;
    pen.fillText(`${written(value)} s`, x(value), tall - 3);
  }
  pen.globalAlpha = 1;
  pen.lineWidth = 1.5;
  pen.lineJoin = "round";
  for (const [one, t, values] of lines) {
    pen.strokeStyle = one.colour || ink;
    line(pen, t.map(x), values.map(y));
  }
  const seen = at ?? window.suppleCanvas?.frame.time;
  if (seen >= begin && seen < end - 0.01 * (end - begin)) {
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.globalAlpha = 0.6;
    line(pen, [x(seen), x(seen)], [0, foot]);
    pen.globalAlpha = 1;
  }
}

// through points; a gap where one is not a number
function line(pen, x, y) {
  pen.beginPath();
  let up = true;
  for (let k = 0; k < x.length; ++k) {
    if (!Number.isFinite(y[k])) { up = true; continue; }
    if (up) pen.moveTo(x[k], y[k]);
    else pen.lineTo(x[k], y[k]);
    up = false;
  }
  pen.stroke();
}
