// The canvas in a page of nicegui: fetches the header, then asks for frames one at a time and draws them, and says what
// else it wants to see beside them.
import { THREE, OrbitControls } from "nicegui-scene";
import { createCanvas } from "supple-canvas/canvas.js";
import { createLooks, PLAIN } from "supple-canvas/looks.js";

const ANOTHER_SCENE = 4001; // the code with which a socket closes
const STILL = 4; // pixels: a press that moves less is a click
const WISHES = ["links", "contacts"]; // marks that the simulation must tell of
const TELL = 500; // [ms] between what the page is told of the selected body
const SEEK = 500; // [ms] between looks whether there is anything to see

export default {
  template: `<div style="position:relative;width:100%;height:100%;display:flex;flex-direction:column">
      <div style="position:relative;flex:1;min-height:0">
        <div ref="view" style="position:absolute;inset:0"></div>
        <div ref="message" role="status" style="position:absolute;inset:0;display:grid;place-items:center;pointer-events:none;white-space:pre-line;padding:2rem;text-align:center"></div>
        <div v-show="past !== null" class="supple-past">Looking back: t = {{ (past ?? 0).toFixed(2) }} s</div>
        <div v-show="lost" role="status" aria-label="Out of sight" class="supple-past supple-lost">{{ lost ? "All bodies have left the picture: press Fit, or tick Follow" : "" }}</div>
      </div>
      <div class="supple-time" :style="{ visibility: kept[1] > kept[0] ? 'visible' : 'hidden' }">
        <span aria-hidden="true">{{ kept[0].toFixed(1) }} s</span>
        <input type="range" aria-label="Look back" :aria-valuetext="(past ?? kept[1]).toFixed(2) + ' s'" step="any"
          title="Drag to look back at the last 60 s. The simulation goes on meanwhile."
          :style="{ '--part': part + '%' }" :min="kept[0]" :max="kept[1]" :value="past ?? kept[1]" @input="back(Number($event.target.value))">
        <span aria-hidden="true">{{ kept[1].toFixed(1) }} s</span>
        <button type="button" class="supple-live" :aria-pressed="past === null ? 'true' : 'false'" @click="live"
          title="Show what happens now">Live</button>
      </div>
    </div>`,
  data: () => ({ kept: [0, 0], past: null, lost: false }),
  computed: {
    // of the bar, up to its thumb
    part() { return 100 * ((this.past ?? this.kept[1]) - this.kept[0]) / Math.max(this.kept[1] - this.kept[0], 1e-9); },
  },
  props: { theme: String },
  mounted() {
    this.closed = this.holds = this.follows = this.asked = this.tracks = false;
    this.pulls = true;
    this.chosen = { theme: this.theme, shadows: true, wire: false, colours: "materials", marks: {} };
    this.body = "";
    this.told = 0;
    this.seeking = setInterval(() => this.seek(), SEEK);
    this.open();
  },
  unmounted() {
    this.closed = true;
    clearInterval(this.seeking);
    this.socket?.close();
    this.wishing?.close();
    this.looks?.dispose();
    this.canvas?.dispose();
  },
  methods: {
    say(text) {
      this.$refs.message.textContent = text;
    },
    async open() {
      try {
        const answer = await fetch("/header");
        if (answer.status === 202) {
          const why = await answer.text();
          this.say(why || "Preparing the scene …");
          return setTimeout(() => this.closed || this.open(), 200);
        }
        this.scene = answer.headers.get("x-scene");
        const bytes = await answer.arrayBuffer(), length = new DataView(bytes).getUint32(0, true);
        const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
        this.draw(header, bytes.slice(4 + length));
        this.say("");
        this.watch();
        this.ask();
      } catch (error) {
        this.say(error.message);
        throw error;
      }
    },
    // a new scene, seen as the last one was
    draw(header, data) {
      this.kept = [0, 0];
      this.past = null;
      this.looks?.dispose();
      this.canvas?.dispose();
      const view = this.$refs.view, { theme, shadows, wire, colours, marks } = this.chosen;
      this.canvas = createCanvas({ THREE, OrbitControls }, view, header, data, { theme });
      this.looks = createLooks({ THREE }, this.canvas, header, data, view);
      this.canvas.onshow = () => this.looks.update();
      this.canvas.setShadows(shadows);
      this.canvas.setWire(wire);
      this.looks.setTheme(theme);
      this.looks.setColours(colours);
      Object.entries(marks).forEach(([which, on]) => this.looks.setMark(which, on));
      this.select(this.follows ? this.first() : "");
      window.suppleCanvas = this.canvas;
      window.suppleLooks = this.looks;
      this.listen(this.canvas.element);
    },
    // one credit at a time: the next frame is asked for when the last one is here, and comes while that one goes to the
    // graphics card, drawn or not
    watch() {
      const socket = new WebSocket(`ws://${location.host}/frames?scene=${this.scene}`);
      this.socket = socket;
      socket.binaryType = "arraybuffer";
      socket.onopen = () => { this.say(""); this.want(); };
      socket.onmessage = ({ data }) => {
        if (typeof data === "string") return this.keep(JSON.parse(data));
        this.asked = false;
        if (this.past === null || this.past !== this.sought) this.want();
        this.canvas.show(data);
      };
      socket.onclose = ({ code }) => {
        if (this.closed) return;
        this.wishing?.close();
        if (code === ANOTHER_SCENE) return this.open();
        this.say("The connection was lost. Trying again …");
        setTimeout(() => this.closed || (this.watch(), this.ask()), 1000);
      };
    },
    // ask for the newest frame, or for that of the moment one looks back to
    want() {
      if (this.socket?.readyState !== WebSocket.OPEN) return;
      this.asked = true;
      this.sought = this.past;
      this.socket.send(this.past === null ? "next" : `at ${this.past}`);
    },
    // bodies walk and fall out of the picture
    seek() { this.lost = !!this.canvas?.applied && this.canvas.bodyCount > 0 && !this.canvas.sees(); },
    keep([begin, end]) {
      const anew = end < this.kept[1];
      this.kept = [begin, end];
      if (this.past === null) return;
      if (anew) this.live();
      else if (this.past < begin) this.back(begin);
    },
    // colours and marks of fields are those of now: looking back shows bodies in their own colours
    back(time) {
      const first = this.past === null;
      this.past = Math.min(Math.max(time, this.kept[0]), this.kept[1]);
      if (first) this.dress();
      if (first || !this.asked) this.want();
    },
    live() {
      if (this.past === null) return;
      this.past = null;
      this.dress();
      this.want();
    },
    dress() {
      const { colours, marks } = this.chosen, now = this.past === null;
      this.looks?.setColours(now || PLAIN.includes(colours) ? colours : "materials");
      for (const name of WISHES) this.looks?.setMark(name, now && !!marks[name]);
    },
    // looks, with a credit of their own
    ask() {
      const socket = new WebSocket(`ws://${location.host}/looks`);
      this.wishing = socket;
      socket.binaryType = "arraybuffer";
      socket.onopen = () => { this.wish(); socket.send("next"); };
      socket.onmessage = ({ data }) => {
        if (socket !== this.wishing) return;
        if (this.past !== null) return socket.send("next");
        const told = this.looks.show(data);
        if (told.picked !== undefined) this.pick(told.picked);
        this.tell(told.selected);
        socket.send("next");
      };
    },
    tellWish(what) {
      if (this.wishing?.readyState === WebSocket.OPEN) this.wishing.send(JSON.stringify(what));
    },
    wish() {
      const { colours, marks } = this.chosen, wanted = Object.fromEntries(WISHES.map((name) => [name, !!marks[name]]));
      this.tellWish({ field: PLAIN.includes(colours) ? "" : colours, body: this.body, ...wanted });
    },
    // what the page says of the selected body, some times a second
    tell(selected) {
      const now = performance.now();
      if (!selected || selected.name !== this.body || now - this.told < TELL) return;
      this.told = now;
      this.$emit("selected", selected);
    },
    // with the tool "pull" the left button holds what is under the pointer, or turns the view where there is nothing;
    // the simulation finds what it holds, and which body a click selects
    listen(view) {
      let pressed = null;
      const send = (which, event) => {
        if (this.socket?.readyState !== WebSocket.OPEN) return;
        const message = new ArrayBuffer(44), head = new DataView(message);
        head.setUint32(0, which, true);
        head.setUint32(4, Math.max(0, this.canvas.frame.number), true);
        if (event) this.canvas.ray(event.clientX, event.clientY).forEach((value, k) => head.setFloat32(8 + 4 * k, value, true));
        this.socket.send(message);
      };
      const moved = (event) => Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY);
      view.addEventListener("pointerdown", (event) => {
        pressed = event.button === 0 ? event : null;
        if (!this.pulls || this.tracks || this.past !== null || event.button !== 0 || event.shiftKey) return;
        send(0, event); // at once: to look whether something is there takes as long as a picture
        if (!this.canvas.hits(event.clientX, event.clientY)) return send(2, null);
        event.stopImmediatePropagation();
        view.focus();
        view.setPointerCapture(event.pointerId);
        this.holds = true;
      }, { capture: true });
      // pointermove waits for the next picture, which may take long
      const move = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";
      view.addEventListener(move, (event) => this.holds && send(1, event));
      view.addEventListener("pointerup", (event) => {
        if (pressed && this.past === null && moved(event) < STILL)
          this.clicked(this.canvas.ray(pressed.clientX, pressed.clientY));
        pressed = null;
      });
      view.addEventListener("keydown", (event) => this.key(event));
      for (const end of ["pointerup", "pointercancel"])
        view.addEventListener(end, () => { if (this.holds) send(2, null); this.holds = false; });
    },
    // the view by keys
    key(event) {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      const nearer = { "+": 1.15, "=": 1.15, "-": 1 / 1.15 }[event.key];
      if (event.ctrlKey || event.altKey || event.metaKey || !(way || nearer)) return;
      event.preventDefault();
      if (nearer) this.canvas.zoom(nearer);
      else if (event.shiftKey) this.canvas.pan(0.05 * way[0], 0.05 * way[1]);
      else this.canvas.turn(0.1 * way[0], 0.1 * way[1]);
    },
    // select what is there, or let plots follow the point
    clicked(pointer) {
      this.tellWish({ frame: Math.max(0, this.canvas.frame.number), pointer, track: this.tracks });
      if (!this.tracks) return;
      this.set_tracking(false);
      this.$emit("tracking", false);
    },
    set_tracking(on) {
      this.tracks = on;
      if (this.canvas) this.canvas.element.style.cursor = on ? "crosshair" : "";
    },
    // select from the picture: the page is told
    pick(name) {
      if (this.body !== name) this.$emit("picked", name);
      this.select(name);
    },
    select(name) {
      const same = this.body === name;
      this.body = name;
      this.told = 0;
      this.looks?.select(name);
      this.canvas?.follow(this.follows && name ? name : null);
      this.wish();
      if (!same && !name) this.$emit("selected", null);
    },
    set_pulls(on) { this.pulls = on; },
    // where no body is selected, the first one is
    set_follow(on) {
      this.follows = on;
      if (this.canvas) this.pick(on && !this.body ? this.first() : this.body);
    },
    first() { return this.canvas.bodyCount ? this.canvas.names[0] : ""; },
    fit() { this.canvas?.fit(); },
    set_theme(name) { this.chosen.theme = name; this.canvas?.setTheme(name); this.looks?.setTheme(name); },
    set_shadows(on) { this.chosen.shadows = on; this.canvas?.setShadows(on); },
    set_wire(on) { this.chosen.wire = on; this.canvas?.setWire(on); },
    set_colours(name) { this.chosen.colours = name; this.dress(); this.wish(); },
    set_mark(which, on) { this.chosen.marks[which] = on; this.looks?.setMark(which, on); this.dress(); this.wish(); },
  },
};
