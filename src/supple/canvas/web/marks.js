// Marks: lines, points and arrows upon the shapes.

const ACCENT = 0xf08c2e;

export function createMarks(THREE, canvas, header, read) {
  const layers = { selected: new SelectedBox(THREE, canvas) };
  const all = () => Object.values(layers);
  all().forEach((layer) => canvas.scene.add(layer.object));
  return {
    select(name) { layers.selected.select(name); },
    set(which, on) { layers[which]?.turn(on); },
    show(told, from) { all().forEach((layer) => layer.show?.(told, from)); },
    update() { all().forEach((layer) => layer.object.visible && layer.update?.()); },
    dispose() {
      all().forEach((layer) => {
        canvas.scene.remove(layer.object);
        layer.object.traverse((part) => { part.geometry?.dispose(); part.material?.dispose(); });
      });
    },
  };
}

// a box around the body that is selected
class SelectedBox {
  constructor(THREE, canvas) {
    this.canvas = canvas;
    this.box = new THREE.Box3();
    this.object = new THREE.Box3Helper(this.box, ACCENT);
    this.object.visible = false;
    this.object.frustumCulled = false;
    this.shape = null;
  }

  select(name) {
    this.shape = this.canvas.shapes[this.canvas.names.indexOf(name)] || null;
    this.object.visible = !!this.shape;
    this.update();
  }

  update() {
    if (!this.shape) return;
    this.shape.bounds(this.box.makeEmpty());
    this.box.expandByScalar(0.02 * this.box.getSize(this.object.scale.clone()).length());
  }
}
