// The canvas in a page of nicegui: fetches the header, then asks for frames one at a time and draws them.
import { THREE, OrbitControls } from "nicegui-scene";
import { createCanvas } from "supple-canvas/canvas.js";

export default {
  template: `<div style="position:relative;width:100%;height:100%">
      <div ref="view" style="position:absolute;inset:0"></div>
      <div ref="message" role="status" style="position:absolute;inset:0;display:grid;place-items:center;pointer-events:none;white-space:pre-line"></div>
    </div>`,
  props: { theme: String },
  mounted() {
    this.closed = this.holds = false;
    this.pulls = true;
    this.open();
  },
  unmounted() {
    this.closed = true;
    this.socket?.close();
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
        const bytes = await answer.arrayBuffer(), length = new DataView(bytes).getUint32(0, true);
        const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length)));
        this.canvas?.dispose();
        this.canvas = createCanvas({ THREE, OrbitControls }, this.$refs.view, header, bytes.slice(4 + length), { theme: this.theme });
        this.say("");
        window.suppleCanvas = this.canvas;
        this.listen(this.canvas.element);
        this.watch();
      } catch (error) {
        this.say(error.message);
        throw error;
      }
    },
    // one credit at a time: the next frame is asked for when the last one is drawn
    watch() {
      const socket = new WebSocket(`ws://${location.host}/frames`);
      this.socket = socket;
      socket.binaryType = "arraybuffer";
      socket.onopen = () => { this.say(""); socket.send("next"); };
      socket.onmessage = ({ data }) => {
        this.canvas.show(data);
        requestAnimationFrame(() => socket.readyState === WebSocket.OPEN && socket.send("next"));
      };
      socket.onclose = ({ code }) => {
        if (this.closed) return;
        if (code === 4001) return this.open(); // another scene
        this.say("The connection was lost. Trying again …");
        setTimeout(() => this.closed || this.watch(), 1000);
      };
    },
    // with the tool "pull" the left button holds what is under the pointer; the simulation finds what that is
    listen(view) {
      const send = (which, event) => {
        if (this.socket?.readyState !== WebSocket.OPEN) return;
        const message = new ArrayBuffer(44), head = new DataView(message);
        head.setUint32(0, which, true);
        head.setUint32(4, Math.max(0, this.canvas.frame.number), true);
        if (event) this.canvas.ray(event.clientX, event.clientY).forEach((value, k) => head.setFloat32(8 + 4 * k, value, true));
        this.socket.send(message);
      };
      view.addEventListener("pointerdown", (event) => {
        if (!this.pulls || event.button !== 0 || event.shiftKey) return;
        event.stopImmediatePropagation();
        view.setPointerCapture(event.pointerId);
        this.holds = true;
        send(0, event);
      }, { capture: true });
      view.addEventListener("pointermove", (event) => this.holds && send(1, event));
      for (const end of ["pointerup", "pointercancel"])
        view.addEventListener(end, () => { if (this.holds) send(2, null); this.holds = false; });
    },
    set_pulls(on) { this.pulls = on; },
    fit() { this.canvas?.fit(); },
    set_theme(name) { this.canvas?.setTheme(name); },
    set_shadows(on) { this.canvas?.setShadows(on); },
    set_wire(on) { this.canvas?.setWire(on); },
  },
};
