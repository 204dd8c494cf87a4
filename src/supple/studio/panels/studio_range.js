// A slider of the browser's own: what has the focus is what screen readers know as a slider, with its name and value.
const QUIET = 500; // [ms] after a person has moved it, in which answers to that are no news

export default {
  template: `<input type="range" class="supple-range" :min="min" :max="max" :step="step" :value="shown"
    :aria-valuetext="log ? Number((10 ** shown).toPrecision(3)).toString() : undefined"
    :style="{ '--part': 100 * (shown - min) / (max - min) + '%' }"
    @pointerdown="held = true" @pointerup="held = false" @pointercancel="held = false"
    @input="move(Number($event.target.value))" @change="$emit('change', Number($event.target.value))">`,
  props: { min: Number, max: Number, step: Number, modelValue: Number, log: Boolean },
  emits: ["update:model-value", "change"],
  data() { return { shown: this.modelValue, held: false, moved: -QUIET }; },
  watch: { modelValue() { this.settle(); } },
  unmounted() { clearTimeout(this.later); },
  methods: {
    move(value) {
      this.shown = value;
      this.moved = performance.now();
      this.$emit("update:model-value", value);
    },
    // what others set is seen, but not under the hand that moves it
    settle() {
      clearTimeout(this.later);
      if (this.held || performance.now() - this.moved < QUIET) this.later = setTimeout(() => this.settle(), QUIET);
      else this.shown = this.modelValue;
    },
  },
};
