// Choose files and bring them to the studio, one after the other; says how it went.
export default {
  template: `<div class="supple-upload">
      <label>Scene file, with the meshes that it names
        <input ref="files" type="file" multiple :accept="accept" :disabled="busy" @change="send">
      </label>
      <div role="status" aria-label="Upload">{{ word }}</div>
    </div>`,
  props: { accept: String, largest: Number },
  data: () => ({ busy: false, word: "" }),
  methods: {
    async send() {
      const files = [...this.$refs.files.files];
      if (!files.length) return;
      this.busy = true;
      try {
        const size = files.reduce((sum, file) => sum + file.size, 0);
        if (size > this.largest) throw new Error(`These files have ${(size / 1e6).toFixed(0)} MB; at most ${(this.largest / 1e6).toFixed(0)} MB are taken. Open larger scenes by supple view FILE.`);
        let key = "";
        for (const file of files) {
          this.word = `Sending ${file.name} …`;
          const answer = await fetch(`/upload?name=${encodeURIComponent(file.name)}&key=${key}`, { method: "POST", body: file });
          const told = await answer.json();
          if (told.error) throw new Error(told.error);
          key = told.key;
        }
        this.word = "";
        this.$emit("uploaded", key);
      } catch (error) {
        this.word = error.message;
      } finally {
        this.busy = false;
        if (this.$refs.files) this.$refs.files.value = "";
      }
    },
  },
};
