// Marks: lines, points and arrows upon the shapes. They are seen through bodies, since what they show lies inside.

const ACCENT = 0xf08c2e, NODE = 0x2f6fb3, CONTACT = 0xd8404a, PULL = 0xe0218a, TRACKED = 0xe08a2e;
const LINK = { light: 0x1d2a35, dark: 0xdff5e6 }; // unlike any body's colour, by theme
const AXES = [[0.85, 0.2, 0.2], [0.25, 0.65, 0.25], [0.2, 0.4, 0.9]]; // x, y, z
const ARROW = 0.2, ROD = 0.0035; // longest arrow, radius of a rod, over the size of the scene
const CROWD = 150; // more dots than these are drawn small

export function createMarks(THREE, canvas, header, read) {
  const size = Math.hypot(...[0, 1, 2].map((i) => header.box[1][i] - header.box[0][i])) || 1;
  const layers = {
    selected: new SelectedBox(THREE, canvas),
    frames: new Frames(THREE, canvas),
    graph: new Graph(THREE, canvas, header, read),
    links: new Links(THREE, canvas),
    contacts: new Contacts(THREE, canvas, size),
    pulls: new Pulls(THREE, size),
    tracked: new Tracked(THREE),
  };
  const all = Object.values(layers);
  for (const [name, layer] of Object.entries(layers)) {
    layer.object.visible = name === "pulls" || name === "tracked";
    canvas.scene.add(layer.object);
  }
  return {
    contacts: layers.contacts, pulls: layers.pulls, tracked: layers.tracked,
    select(name) { layers.selected.select(name); },
    set(which, on) {
      const layer = layers[which];
      if (!layer) throw new Error(`There are no marks '${which}'.`);
      layer.object.visible = on;
      if (on) layer.update?.();
    },
    setTheme(name) { layers.links.setTheme(name); },
    show(told, from) { all.forEach((layer) => layer.show?.(told, from)); },
    update() { all.forEach((layer) => layer.object.visible && layer.update?.()); },
    dispose() {
      all.forEach((layer) => {
        canvas.scene.remove(layer.object);
        layer.object.traverse((part) => { part.geometry?.dispose(); part.material?.map?.dispose(); part.material?.dispose(); });
      });
    },
  };
}

// lines between pairs of points that can be told anew
function makeLines(THREE, options) {
  const lines = new THREE.LineSegments(new THREE.BufferGeometry(),
    new THREE.LineBasicMaterial({ depthTest: false, transparent: true, ...options }));
  lines.frustumCulled = false;
  lines.renderOrder = 10;
  return lines;
}

function makeDots(THREE, colour, pixels) {
  const disc = new Uint8Array(4 * 16 * 16).map((_, k) => {
    const x = (k >> 2) % 16 - 7.5, y = (k >> 6) - 7.5;
    return k % 4 < 3 ? 255 : Math.max(0, Math.min(255, 255 * (8 - Math.hypot(x, y))));
  });
  const map = new THREE.DataTexture(disc, 16, 16);
  map.needsUpdate = true;
  const dots = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({
    color: colour, map, size: pixels, sizeAttenuation: false, depthTest: false, transparent: true }));
  dots.frustumCulled = false;
  dots.renderOrder = 11;
  const whole = new THREE.Vector2();
  dots.onBeforeRender = (renderer) => { // as large in a picture of fewer pixels, which is stretched
    const target = renderer.getRenderTarget();
    dots.material.size = target ? (pixels * target.height) / renderer.getSize(whole).height / renderer.getPixelRatio() : pixels;
  };
  return dots;
}

function setPlaces(THREE, object, places) {
  const held = object.geometry.getAttribute("position");
  if (held && held.array.length === places.length) {
    held.array.set(places);
    held.needsUpdate = true;
  } else object.geometry.setAttribute("position", new THREE.BufferAttribute(Float32Array.from(places), 3));
}

// a box around the body that is selected
class SelectedBox {
  constructor(THREE, canvas) {
    this.canvas = canvas;
    this.box = new THREE.Box3();
    this.object = new THREE.Box3Helper(this.box, ACCENT);
    this.object.frustumCulled = false;
    this.size = new THREE.Vector3();
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
    this.box.expandByScalar(0.02 * this.box.getSize(this.size).length());
  }
}

// axes of rigid and floating bodies and of domains
class Frames {
  constructor(THREE, canvas) {
    this.THREE = THREE;
    this.shapes = canvas.shapes.filter((shape) => shape.domains);
    const count = this.shapes.reduce((sum, shape) => sum + shape.domains, 0);
    this.places = new Float32Array(18 * count);
    this.object = makeLines(THREE, { vertexColors: true });
    const colours = Float32Array.from({ length: 18 * count }, (_, k) => AXES[Math.floor(k / 6) % 3][k % 3]);
    this.object.geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3));
  }

  update() {
    let at = 0;
    for (const shape of this.shapes)
      for (let d = 0; d < shape.domains; ++d) {
        const R = shape.axes(d), o = shape.frame(d).subarray(0, 3), long = 0.7 * Math.hypot(...shape.half(d));
        for (let axis = 0; axis < 3; ++axis)
          for (let i = 0; i < 3; ++i) {
            this.places[at + 6 * axis + i] = o[i];
            this.places[at + 6 * axis + 3 + i] = o[i] + long * R[3 * axis + i];
          }
        at += 18;
      }
    setPlaces(this.THREE, this.object, this.places);
  }
}

// which domain hangs on which: from the middle of one, by the interface, to the middle of the other
class Graph {
  constructor(THREE, canvas, header, read) {
    this.THREE = THREE;
    this.trees = header.shapes.flatMap((told, k) => (told.parents ? [[canvas.shapes[k], read(told.parents)]] : []));
    this.lines = makeLines(THREE, { color: NODE });
    const count = this.trees.reduce((sum, [shape]) => sum + shape.domains, 0), small = count > CROWD;
    this.nodes = makeDots(THREE, NODE, small ? 4 : 9);
    this.interfaces = makeDots(THREE, ACCENT, small ? 3 : 7);
    this.object = new THREE.Group().add(this.lines, this.nodes, this.interfaces);
  }

  update() {
    const nodes = [], faces = [], lines = [];
    for (const [shape, parents] of this.trees) {
      const centres = Array.from({ length: shape.domains }, (_, d) => shape.centre(d, [0, 0, 0]));
      centres.forEach((centre, d) => {
        nodes.push(...centre);
        if (parents[d] === 0) return;
        const o = shape.frame(d).subarray(0, 3);
        faces.push(...o);
        lines.push(...centres[parents[d] - 1], ...o, ...o, ...centre);
      });
    }
    setPlaces(this.THREE, this.nodes, nodes);
    setPlaces(this.THREE, this.interfaces, faces);
    setPlaces(this.THREE, this.lines, lines);
  }
}

// links of lattices, between the middles of voxels
class Links {
  constructor(THREE, canvas) {
    Object.assign(this, { THREE, canvas, lines: new Map(), colour: LINK.light });
    this.object = new THREE.Group();
  }

  setTheme(name) {
    this.colour = LINK[name] ?? LINK.light;
    this.lines.forEach((lines) => lines.material.color.set(this.colour));
  }

  show(told, read) {
    for (const { name, rows, places } of told.links || []) {
      if (!this.lines.has(name)) {
        const lines = makeLines(this.THREE, { color: this.colour });
        lines.geometry.setIndex(new this.THREE.BufferAttribute(read(rows).slice(), 1));
        this.lines.set(name, lines);
        this.object.add(lines);
      }
      setPlaces(this.THREE, this.lines.get(name), read(places));
    }
  }
}

// many rods or arrow heads, each from a place along a way
class Rods {
  constructor(THREE, geometry, colour) {
    this.THREE = THREE;
    this.material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true });
    this.geometry = geometry;
    this.object = new THREE.Group();
    this.mesh = null;
  }

  // matrices: of each rod
  put(matrices) {
    const { THREE } = this;
    if (!this.mesh || this.mesh.instanceMatrix.count < matrices.length) {
      if (this.mesh) this.object.remove(this.mesh);
      this.mesh = new THREE.InstancedMesh(this.geometry, this.material, Math.max(8, 2 * matrices.length));
      this.mesh.frustumCulled = false;
      this.mesh.renderOrder = 12;
      this.object.add(this.mesh);
    }
    matrices.forEach((matrix, k) => this.mesh.setMatrixAt(k, matrix));
    this.mesh.count = matrices.length;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

function placed(THREE, from, way, across, along) {
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), way);
  return new THREE.Matrix4().compose(from, turn, new THREE.Vector3(across, along, across));
}

// where bodies touch, and how hard: arrows of the forces
class Contacts {
  constructor(THREE, canvas, size) {
    Object.assign(this, { THREE, canvas, size, count: 0, highest: 0 });
    this.dots = makeDots(THREE, CONTACT, 5);
    this.rods = new Rods(THREE, new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), CONTACT);
    this.heads = new Rods(THREE, new THREE.ConeGeometry(1, 1, 12).translate(0, 0.5, 0), CONTACT);
    this.object = new THREE.Group().add(this.dots, this.rods.object, this.heads.object);
  }

  // arrows suit the bodies that touch, where these are small in a large scene
  sizeOfArrows() {
    const { shapes, bodyCount } = this.canvas, box = new this.THREE.Box3(), across = new this.THREE.Vector3();
    const sizes = shapes.slice(0, bodyCount).map((shape) => shape.bounds(box.makeEmpty()).getSize(across).length());
    return Math.min(this.size, 4 * sizes.sort((a, b) => a - b)[Math.floor(sizes.length / 2)]);
  }

  show({ contacts }, read) {
    if (!contacts) return;
    const { THREE } = this, places = read(contacts.places), forces = read(contacts.forces), size = this.sizeOfArrows();
    const rods = [], heads = [];
    this.count = places.length / 3;
    this.highest = contacts.highest;
    for (let k = 0; k < this.count; ++k) {
      const from = new THREE.Vector3().fromArray(places, 3 * k), way = new THREE.Vector3().fromArray(forces, 3 * k);
      const long = Math.min(1.5, way.length() / contacts.highest) * ARROW * size, head = Math.min(0.35 * long, 6 * ROD * size);
      if (!(long > 1e-3 * ARROW * size)) continue;
      way.normalize();
      rods.push(placed(THREE, from, way, Math.min(0.35 * ROD * size, 0.1 * long), long - head));
      heads.push(placed(THREE, from.clone().addScaledVector(way, long - head), way, 0.35 * head, head));
    }
    setPlaces(THREE, this.dots, places);
    this.rods.put(rods);
    this.heads.put(heads);
  }
}

// a rod from where a pull holds a body to where it pulls it
class Pulls {
  constructor(THREE, size) {
    Object.assign(this, { THREE, size, count: 0 });
    this.rods = new Rods(THREE, new THREE.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), PULL);
    this.dots = makeDots(THREE, PULL, 10);
    this.object = new THREE.Group().add(this.rods.object, this.dots);
  }

  show({ pulls }, read) {
    if (!pulls) return;
    const { THREE, size } = this, ends = read(pulls), rods = [];
    this.count = ends.length / 6;
    for (let k = 0; k < this.count; ++k) {
      const from = new THREE.Vector3().fromArray(ends, 6 * k), way = new THREE.Vector3().fromArray(ends, 6 * k + 3).sub(from);
      const long = way.length();
      if (long > 0) rods.push(placed(THREE, from, way.normalize(), 0.5 * ROD * size, long));
    }
    this.rods.put(rods);
    setPlaces(THREE, this.dots, ends);
  }
}

// points that plots follow
class Tracked {
  constructor(THREE) {
    Object.assign(this, { THREE, count: 0, object: makeDots(THREE, TRACKED, 12) });
  }

  show({ tracked }, read) {
    if (!tracked) return;
    const rows = read(tracked), places = [];
    this.count = rows.length / 4;
    for (let k = 0; k < this.count; ++k) places.push(...rows.subarray(4 * k + 1, 4 * k + 4));
    setPlaces(this.THREE, this.object, places);
  }
}
