// The legend: what colours mean, as a bar with numbers and a unit, or as a list of names.

// viridis of matplotlib, at even steps from 0 to 1
const STOPS = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37]];
const TOP = 254, NONE = [150, 150, 150]; // of bytes; 255: the body has no such field
const MOST = 9; // names in a list
const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];

const MAP = Uint8Array.from({ length: 3 * 256 }, (_, k) => {
  const byte = Math.floor(k / 3), i = k % 3;
  if (byte > TOP) return NONE[i];
  const at = (byte / TOP) * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2), part = at - low;
  return Math.round(STOPS[low][i] * (1 - part) + STOPS[low + 1][i] * part);
});

// bytes of a field as bytes of red, green, blue
export function fieldColours(values) {
  const out = new Uint8Array(3 * values.length);
  values.forEach((byte, k) => out.set(MAP.subarray(3 * byte, 3 * byte + 3), 3 * k));
  return out;
}

// whether these are the bytes of a body that has no such field
export function hasNone(values) {
  return values.length > 0 && values[0] > TOP;
}

// a colour that differs much from those of the numbers next to it, [red, green, blue] of bytes
export function partColour(number) {
  const hue = (0.58 + number * 0.61803398875) % 1, s = 0.52, l = number % 2 ? 0.5 : 0.62, a = s * Math.min(l, 1 - l);
  return [0, 8, 4].map((n) => {
    const k = (n + 12 * hue) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}

// a number as people write it: 0.5, 20, 1.2e-7
export function written(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-4 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

export function createLegend(element) {
  const box = document.createElement("div");
  box.className = "supple-legend";
  box.setAttribute("role", "img");
  box.hidden = true;
  const note = document.createElement("div"), all = document.createElement("div");
  note.setAttribute("role", "note");
  note.hidden = true;
  all.append(note, box);
  all.style.cssText = `position:absolute;left:12px;bottom:12px;max-width:260px;display:grid;gap:6px;pointer-events:none;
    font:12px/1.4 system-ui,sans-serif;font-variant-numeric:tabular-nums`;
  element.appendChild(all);
  const style = (theme) => {
    const dark = theme === "dark";
    for (const part of [box, note])
      part.style.cssText = `padding:8px 12px;border-radius:8px;background:${dark ? "#20242ae0" : "#ffffffe0"};
        color:${dark ? "#e6e9ed" : "#23272d"}`;
    box.style.minWidth = "190px";
  };
  const stops = STOPS.map((c) => `rgb(${c})`).join(",");
  let told = "";
  const put = (text, html) => {
    box.hidden = false;
    if (text === told) return;
    told = text;
    box.setAttribute("aria-label", text);
    box.replaceChildren(...html);
  };
  const line = (text, css = "") => Object.assign(document.createElement("div"), { textContent: text, style: css });
  style("light");

  return {
    element: box,
    setTheme: style,
    hide() { box.hidden = true; told = ""; },
    note(text) { note.hidden = !text; note.textContent = text; },
    wait(name) { put(`${capital(name)} …`, [line(`${capital(name)} …`)]); },
    showNone(name) { put(`No body here has a ${name}`, [line(`No body here has a ${name}`)]); },
    // notes: what else is to be known of the colours
    showScale(name, unit, highest, notes) {
      const [size, prefix] = unit === "-" ? [1, ""] : PREFIXES.find(([size]) => highest >= size) || PREFIXES.at(-1);
      const title = `${capital(name)} [${prefix}${unit}]`, ends = [0, 0.5, 1].map((part) => written((part * highest) / size));
      const bar = line("", `height:10px;border-radius:3px;margin:5px 0 3px;background:linear-gradient(90deg,${stops})`);
      const numbers = line("", "display:flex;justify-content:space-between");
      numbers.append(...ends.map((text) => Object.assign(document.createElement("span"), { textContent: text })));
      const lines = [line(title, "font-weight:600"), bar, numbers, ...notes.map((text) => line(text, "opacity:0.7"))];
      put([`${title} from 0 to ${ends[2]}`, ...notes].join("; "), lines);
    },
    showParts(title, parts) {
      const rows = parts.slice(0, MOST).map(([name, colour]) => {
        const row = line("", "display:flex;align-items:center;gap:6px;overflow:hidden;white-space:nowrap");
        const mark = `flex:none;width:10px;height:10px;border-radius:3px;background:rgb(${colour})`;
        row.append(...(colour ? [line("", mark)] : []), line(name, "overflow:hidden;text-overflow:ellipsis"));
        return row;
      });
      if (parts.length > MOST) rows.push(line(`and ${parts.length - MOST} more`));
      put(`${title}: ${parts.map(([name]) => name).join(", ")}`, [line(title, "font-weight:600"), ...rows]);
    },
    dispose() { all.remove(); },
  };
}

function capital(name) {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
