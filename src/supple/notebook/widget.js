// The canvas as a widget of a notebook: unpacks what the kernel has sent, draws it, and plays where there is more than
// one frame. Nothing is fetched.

async function unpacked(view) {
  const packed = new Blob([new Uint8Array(view.buffer, view.byteOffset, view.byteLength)]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function load(view) {
  const url = URL.createObjectURL(new Blob([await unpacked(view)], { type: "text/javascript" }));
  try { return await import(url); } finally { URL.revokeObjectURL(url); }
}

// a part of the widget: kind of element, words, style
function add(el, kind, text = "", style = "") {
  const part = document.createElement(kind);
  part.textContent = text;
  part.style.cssText = style;
  el.appendChild(part);
  return part;
}

async function render({ model, el }) {
  const header = model.get("header"), times = model.get("times"), count = times.length;
  const view = add(el, "div", "", `position:relative;width:100%;height:${model.get("height")}px`);
  const message = add(view, "div", "Opening …", "position:absolute;inset:0;display:grid;place-items:center;text-align:center");
  message.setAttribute("role", "status");
  let canvas, playing = false, waiting = 0;
  try {
    if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old to draw. Try a current Chrome, Firefox or Safari.");
    globalThis.suppleThree ??= load(model.get("three")); // once a page
    const [three, own] = [await globalThis.suppleThree, await load(model.get("canvas"))];
    const data = await unpacked(model.get("data")), frames = await unpacked(model.get("frames"));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    canvas = own.createCanvas(three, view, header, data, { theme: dark ? "dark" : "light" });
    message.remove();
    el.suppleCanvas = canvas;
    const show = (k) => canvas.show(frames.slice(k * header.frame, (k + 1) * header.frame));
    show(0);
    if (count > 1) controls(show);
  } catch (error) {
    message.textContent = error.message;
    throw error;
  }

  function controls(show) {
    const bar = add(el, "div", "", "display:flex;gap:.75rem;align-items:center;padding:.25rem 0");
    const button = add(bar, "button", "Play", "min-width:4.5rem"), moment = add(bar, "input", "", "flex:1");
    const told = add(bar, "output", "", "min-width:9rem;text-align:right;font-variant-numeric:tabular-nums");
    Object.assign(moment, { type: "range", min: 0, max: count - 1, step: 1, value: 0 });
    moment.setAttribute("aria-label", "Moment");
    let at = times[0], before = 0, shown = 0;
    const go = (k) => {
      if (k !== shown) show(k);
      shown = k;
      moment.value = k;
      told.textContent = `${times[k].toFixed(2)} s of ${times[count - 1].toFixed(2)} s`;
      moment.setAttribute("aria-valuetext", told.textContent);
    };
    const tick = (now) => {
      if (!playing) return;
      at += (now - before) / 1000;
      before = now;
      if (at > times[count - 1]) at = times[0];
      let k = shown < count - 1 && times[shown] <= at ? shown : 0;
      while (k + 1 < count && times[k + 1] <= at) ++k;
      go(k);
      waiting = requestAnimationFrame(tick);
    };
    const play = (on) => {
      playing = on;
      button.textContent = on ? "Pause" : "Play";
      at = times[shown];
      if (on) waiting = requestAnimationFrame((now) => { before = now; tick(now); });
    };
    button.addEventListener("click", () => play(!playing));
    moment.addEventListener("input", () => { play(false); go(Number(moment.value)); });
    go(0);
    play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  return () => {
    playing = false;
    cancelAnimationFrame(waiting);
    canvas.dispose();
  };
}

export default { render };
