// The canvas: draws a scene from a header and frames, in any page that brings three.js.
//
//   const canvas = createCanvas({ THREE, OrbitControls }, element, header, data);
//   canvas.show(frame);          // an ArrayBuffer, as supple.canvas.frames tells
//
// header: the JSON of supple.canvas.header; data: its bytes. Two forms of shapes: "carried", whose points are made in
// the vertex shader from frames and coordinates of domains, and "points", which are sent. Nothing is imported here.

const TYPES = { f4: Float32Array, i2: Int16Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
const WIDTH = 1024; // texels in a row of a table
const THEMES = {
  light: { background: 0xf4f5f7, grid: 0x9aa3ad, sky: 0xffffff, earth: 0xb9b4ac },
  dark: { background: 0x15181c, grid: 0x59626d, sky: 0xdfe8f2, earth: 0x5a544c },
};

// what a shape needs in its vertex shader: where a point is that hangs on a domain, and the mean of several
const CARRIED = `
  in float row, domain;
  uniform highp sampler2D frames, coordinates, shapes;
  uniform highp usampler2D table, groups, members;
  uniform highp sampler2D weights;
  uniform bool hasSeams;
  ivec2 at(int k) { return ivec2(k % ${WIDTH}, k / ${WIDTH}); }
  vec3 placed(int d, int base) {                       // o + s R (X + U q)
    uvec4 own = texelFetch(table, at(d), 0);           // first coordinate, modes, first texel, first point
    vec3 u = texelFetch(shapes, at(base), 0).xyz;
    for (int l = 0; l < int(own.y); ++l)
      u += texelFetch(shapes, at(base + 1 + l), 0).xyz * texelFetch(coordinates, at(int(own.x) + l), 0).x;
    vec4 o = texelFetch(frames, at(2 * d), 0), p = texelFetch(frames, at(2 * d + 1), 0);
    u *= o.w;
    return o.xyz + u + 2.0 * cross(p.xyz, cross(p.xyz, u) + p.w * u);
  }
  vec3 carriedPoint() {
    int d = int(domain);
    uvec4 own = texelFetch(table, at(d), 0);
    if (hasSeams) {
      uvec2 group = texelFetch(groups, at(int(own.w) + int(row)), 0).xy;   // first member, how many
      if (group.y > 0u) {
        vec3 x = vec3(0.0);
        for (uint k = group.x; k < group.x + group.y; ++k) {
          uvec2 member = texelFetch(members, at(int(k)), 0).xy;            // domain, texel
          x += texelFetch(weights, at(int(k)), 0).x * placed(int(member.x), int(member.y));
        }
        return x;
      }
    }
    return placed(d, int(own.z) + int(row) * (1 + int(own.y)));
  }
`;

export function createCanvas({ THREE, OrbitControls }, element, header, data, options = {}) {
  if (header.version !== 1) throw new Error(`This page draws scenes of version 1, not ${header.version}.`);
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) throw new Error("This browser has no WebGL 2, which drawing needs. Try a current Chrome, Firefox or Safari.");
  const read = ({ at, count, type }) => new TYPES[type](data, at, count);

  const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: !!options.keep });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFSoftShadowMap;
  renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
  const view = renderer.domElement;
  view.style.cssText = "display:block;width:100%;height:100%;outline-offset:-2px";
  view.tabIndex = 0;
  view.setAttribute("role", "img");
  view.setAttribute("aria-label", `${header.name}: drag to turn, right drag to move, wheel to come nearer`);
  element.appendChild(view);

  const scene = new THREE.Scene();
  const up = new THREE.Vector3(...header.up);
  const camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
  camera.up.copy(up);
  const orbit = new OrbitControls(camera, view);
  orbit.enableDamping = false;
  const sky = new THREE.HemisphereLight(0xffffff, 0xb9b4ac, 1.6);
  sky.position.copy(up);
  const sun = new THREE.DirectionalLight(0xffffff, 2.2);
  sun.castShadow = true;
  sun.shadow.mapSize.set(1024, 1024);
  sun.shadow.intensity = 0.45;
  scene.add(sky, sun, sun.target);

  const box = new THREE.Box3(new THREE.Vector3(...header.box[0]), new THREE.Vector3(...header.box[1]));
  const middle = box.getCenter(new THREE.Vector3());
  const extent = box.getSize(new THREE.Vector3()).length() || 1;
  const ground = makeGround(THREE, header, box, extent);
  if (ground) scene.add(ground.shadow, ground.grid);
  const shapes = header.shapes.map((told) =>
    told.form === "carried" ? new CarriedShape(THREE, told, read) : new PointsShape(THREE, told, read, extent));
  shapes.forEach((shape) => scene.add(shape.object));

  const canvas = {
    element: view,
    frame: { number: -1, step: 0, time: 0 },
    applied: 0, // frames that were received and handed to the graphics card
    drawn: 0, // pictures
    onshow: null,
    renderer: rendererName(renderer),
    names: header.shapes.map((told) => told.name),
    triangles: shapes.reduce((sum, shape) => sum + shape.triangles, 0),

    // place all shapes as a frame says
    show(frame) {
      if (frame.byteLength !== header.frame)
        throw new Error(`A frame has ${frame.byteLength} bytes where ${header.frame} are due.`);
      const head = new DataView(frame);
      canvas.frame = { number: head.getUint32(0, true), step: head.getUint32(4, true), time: head.getFloat64(8, true) };
      let at = 16;
      for (const shape of shapes) at = shape.place(frame, at);
      canvas.applied += 1;
      canvas.touch();
      if (canvas.onshow) canvas.onshow(canvas.frame);
    },

    // see all of it from where it is seen now, or from the front
    fit(direction) {
      const way = direction ? new THREE.Vector3(...direction) : camera.position.clone().sub(orbit.target);
      if (way.length() < 1e-9) way.set(0.55, -0.75, 0.35); // from the front, a little above
      camera.near = extent / 200;
      camera.far = extent * 60;
      camera.updateProjectionMatrix();
      orbit.target.copy(middle);
      camera.position.copy(middle).addScaledVector(way.normalize(), distanceOfAll(THREE, box, middle, way, up, camera));
      orbit.update();
      sun.position.copy(middle).addScaledVector(new THREE.Vector3(0.45, -0.35, 1).normalize(), 2 * extent);
      sun.target.position.copy(middle);
      const light = sun.shadow.camera;
      [light.left, light.right, light.bottom, light.top] = [-extent, extent, -extent, extent];
      [light.near, light.far] = [0.1 * extent, 5 * extent];
      light.updateProjectionMatrix();
      canvas.touch();
    },

    setTheme(name) {
      const theme = THEMES[name] || THEMES.light;
      scene.background = new THREE.Color(theme.background);
      sky.color.set(theme.sky);
      sky.groundColor.set(theme.earth);
      if (ground) ground.grid.material.uniforms.colour.value.set(theme.grid);
      canvas.touch();
    },

    setShadows(on) {
      sun.castShadow = on;
      canvas.touch();
    },

    setWire(on) {
      shapes.forEach((shape) => shape.setWire(on));
      canvas.touch();
    },

    // world positions of some points of a shape as the shader finds them, (3 n) numbers
    positions(name, numbers) {
      const shape = shapes[canvas.names.indexOf(name)];
      if (!shape) throw new Error(`There is no shape '${name}'.`);
      return shape.positions(renderer, numbers);
    },

    // where the camera is, a ray through a point of the window, and the way the camera looks, 9 numbers
    ray(x, y) {
      const place = view.getBoundingClientRect();
      const at = new THREE.Vector3((2 * (x - place.left)) / place.width - 1, 1 - (2 * (y - place.top)) / place.height, 0.5);
      const ray = at.unproject(camera).sub(camera.position).normalize();
      const forward = camera.getWorldDirection(new THREE.Vector3());
      return [...camera.position.toArray(), ...ray.toArray(), ...forward.toArray()];
    },

    // where a point of the world is seen in the window, [x, y]
    seen(place) {
      const at = new THREE.Vector3(...place).project(camera), box = view.getBoundingClientRect();
      return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
    },

    touch() {
      if (!waiting) waiting = requestAnimationFrame(draw);
    },

    resize() {
      const width = Math.max(1, element.clientWidth), height = Math.max(1, element.clientHeight);
      renderer.setSize(width, height, false);
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      canvas.touch();
    },

    // a picture now, as a data URL
    picture() {
      renderer.render(scene, camera);
      return view.toDataURL("image/png");
    },

    dispose() {
      cancelAnimationFrame(waiting);
      observer.disconnect();
      orbit.dispose();
      shapes.forEach((shape) => shape.dispose());
      renderer.dispose();
      view.remove();
    },
  };

  let waiting = 0;
  function draw() {
    waiting = 0;
    renderer.render(scene, camera);
    canvas.drawn += 1;
  }
  orbit.addEventListener("change", () => canvas.touch());
  const observer = new ResizeObserver(() => canvas.resize());
  observer.observe(element);
  canvas.resize();
  canvas.setTheme(options.theme || "light");
  canvas.fit(options.from || [0.55, -0.75, 0.35]);
  return canvas;
}

// ---------------------------------------------------------------- shapes

// points that hang on frames of domains; copies of a kind are instances
class CarriedShape {
  constructor(THREE, told, read) {
    this.THREE = THREE;
    const kindOf = read(told.kind_of), domains = kindOf.length;
    const scale = read(told.scale), seams = read(told.seams), starts = read(told.groups);
    const modes = told.kinds.map((kind) => kind.modes);
    const bases = prefix(told.kinds.map((kind) => kind.points * (1 + kind.modes)));
    const firstPoint = prefix(Array.from(kindOf, (k) => told.kinds[k].points));
    const firstCoordinate = prefix(Array.from(kindOf, (k) => modes[k]));
    this.scaleStart = prefix(modes);
    Object.assign(this, { kindOf, domains, scale, modes, firstCoordinate, firstPoint });
    this.coordinateCount = firstCoordinate[domains];

    const shapes = this.table(bases[told.kinds.length], "RGBA", Float32Array);
    told.kinds.forEach((kind, k) => fillShapes(shapes.image.data, bases[k], kind, read));
    const table = this.table(domains, "RGBA", Uint32Array);
    for (let d = 0; d < domains; ++d)
      table.image.data.set([firstCoordinate[d], modes[kindOf[d]], bases[kindOf[d]], firstPoint[d]], 4 * d);
    this.frames = this.table(2 * domains, "RGBA", Float32Array);
    this.coordinates = this.table(Math.max(1, this.coordinateCount), "R", Float32Array);
    const groups = this.table(seams.length ? firstPoint[domains] : 1, "RG", Uint32Array);
    const members = this.table(Math.max(1, seams.length), "RG", Uint32Array);
    const weights = this.table(Math.max(1, seams.length), "R", Float32Array);
    const given = told.weights ? read(told.weights) : null;
    for (let g = 0; g + 1 < starts.length; ++g)
      for (let k = starts[g]; k < starts[g + 1]; ++k) {
        groups.image.data.set([starts[g], starts[g + 1] - starts[g]], 2 * seams[k]);
        const d = last(firstPoint, seams[k]), kind = kindOf[d];
        members.image.data.set([d, bases[kind] + (seams[k] - firstPoint[d]) * (1 + modes[kind])], 2 * k);
        weights.image.data[k] = given ? given[k] : 1 / (starts[g + 1] - starts[g]);
      }
    this.textures = [shapes, table, this.frames, this.coordinates, groups, members, weights];
    this.uniforms = {
      frames: { value: this.frames }, coordinates: { value: this.coordinates }, shapes: { value: shapes },
      table: { value: table }, groups: { value: groups }, members: { value: members }, weights: { value: weights },
      hasSeams: { value: seams.length > 0 },
    };
    this.material = this.hooked(new THREE.MeshStandardMaterial({
      vertexColors: true, flatShading: true, side: THREE.DoubleSide, roughness: 0.85, metalness: 0,
    }), "colour");
    this.depth = this.hooked(new THREE.MeshDepthMaterial({ depthPacking: THREE.RGBADepthPacking }), "depth");
    this.object = new THREE.Group();
    this.triangles = 0;
    const colours = read(told.colours);
    if (told.faces) this.addWhole(read(told.faces), colours, firstPoint, domains);
    else told.kinds.forEach((kind, k) => this.addKind(kind, k, read, colours));
  }

  table(count, channels, Kind) {
    const { THREE } = this, whole = Kind === Uint32Array, size = { R: 1, RG: 2, RGBA: 4 }[channels];
    const height = Math.max(1, Math.ceil(count / WIDTH));
    const format = { R: "Red", RG: "RG", RGBA: "RGBA" }[channels] + (whole ? "IntegerFormat" : "Format");
    const texture = new THREE.DataTexture(new Kind(WIDTH * height * size), WIDTH, height, THREE[format],
      whole ? THREE.UnsignedIntType : THREE.FloatType);
    texture.internalFormat = `${channels}32${whole ? "UI" : "F"}`;
    texture.needsUpdate = true;
    return texture;
  }

  hooked(material, label) {
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", `#include <common>\n${CARRIED}`)
        .replace("#include <begin_vertex>", "vec3 transformed = carriedPoint();");
    };
    material.customProgramCacheKey = () => `supple-carried-${label}`;
    return material;
  }

  addMesh(geometry, count) {
    const mesh = new this.THREE.Mesh(geometry, this.material);
    mesh.customDepthMaterial = this.depth;
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = true;
    this.object.add(mesh);
    this.triangles += count;
  }

  addKind(kind, number, read, colours) {
    const { THREE } = this, own = [];
    this.kindOf.forEach((k, d) => k === number && own.push(d));
    const index = read(kind.triangles);
    if (!own.length || !index.length) return;
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.instanceCount = own.length;
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    const rows = Float32Array.from({ length: kind.points }, (_, k) => k);
    geometry.setAttribute("row", new THREE.BufferAttribute(rows, 1));
    geometry.setAttribute("domain", new THREE.InstancedBufferAttribute(Float32Array.from(own), 1));
    const tint = Uint8Array.from(own.flatMap((d) => colourOf(colours, d)));
    geometry.setAttribute("color", new THREE.InstancedBufferAttribute(tint, 3, true));
    this.addMesh(geometry, (own.length * index.length) / 3);
  }

  addWhole(faces, colours, firstPoint, domains) {
    const { THREE } = this, count = firstPoint[domains], geometry = new THREE.BufferGeometry();
    const row = new Float32Array(count), domain = new Float32Array(count), tint = new Uint8Array(3 * count);
    for (let d = 0; d < domains; ++d)
      for (let k = firstPoint[d]; k < firstPoint[d + 1]; ++k) {
        row[k] = k - firstPoint[d];
        domain[k] = d;
        tint.set(colourOf(colours, d), 3 * k);
      }
    geometry.setIndex(new THREE.BufferAttribute(faces, 1));
    geometry.setAttribute("row", new THREE.BufferAttribute(row, 1));
    geometry.setAttribute("domain", new THREE.BufferAttribute(domain, 1));
    geometry.setAttribute("color", new THREE.BufferAttribute(tint, 3, true));
    this.addMesh(geometry, faces.length / 3);
  }

  place(frame, at) {
    const d = this.domains, scales = this.scaleStart[this.modes.length];
    const box = new Float32Array(frame, at, 6), scale = new Float32Array(frame, at + 24, scales);
    const start = at + 24 + 4 * scales, n = this.coordinateCount;
    const o = new Uint16Array(frame, start, 3 * d), turn = new Int16Array(frame, start + 6 * d, 4 * d);
    const q = new Int16Array(frame, start + 14 * d, n);
    const out = this.frames.image.data, coordinates = this.coordinates.image.data;
    for (let k = 0; k < d; ++k) {
      for (let i = 0; i < 3; ++i) out[8 * k + i] = box[i] + (o[3 * k + i] / 65535) * (box[3 + i] - box[i]);
      out[8 * k + 3] = this.scale[k];
      const [w, x, y, z] = turn.subarray(4 * k, 4 * k + 4), size = 1 / (Math.hypot(w, x, y, z) || 1);
      out[8 * k + 4] = x * size;
      out[8 * k + 5] = y * size;
      out[8 * k + 6] = z * size;
      out[8 * k + 7] = w * size;
      const first = this.firstCoordinate[k], own = this.scaleStart[this.kindOf[k]], r = this.modes[this.kindOf[k]];
      for (let l = 0; l < r; ++l) coordinates[first + l] = (q[first + l] / 32767) * scale[own + l];
    }
    this.frames.needsUpdate = this.coordinates.needsUpdate = true;
    return padded(start + 14 * d + 2 * n);
  }

  setWire(on) {
    this.material.wireframe = on;
  }

  // by transform feedback, with the shader that draws
  positions(renderer, numbers) {
    const gl = renderer.getContext();
    const row = new Float32Array(numbers.length), domain = new Float32Array(numbers.length);
    numbers.forEach((point, k) => {
      domain[k] = last(this.firstPoint, point);
      row[k] = point - this.firstPoint[domain[k]];
    });
    const source = `#version 300 es\nprecision highp float; precision highp int;\n${CARRIED}
      out vec3 place; void main() { place = carriedPoint(); gl_Position = vec4(0.0); }`;
    const empty = "#version 300 es\nprecision highp float; out vec4 c; void main() { c = vec4(0.0); }";
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, source], [gl.FRAGMENT_SHADER, empty]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.transformFeedbackVaryings(program, ["place"], gl.SEPARATE_ATTRIBS);
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.useProgram(program);
    for (const [name, values] of [["row", row], ["domain", domain]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      const where = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(where);
      gl.vertexAttribPointer(where, 1, gl.FLOAT, false, 0, 0);
    }
    this.textures.forEach((texture) => renderer.initTexture(texture));
    Object.entries(this.uniforms).forEach(([name, { value }], unit) => {
      const where = gl.getUniformLocation(program, name);
      if (value.isTexture) {
        gl.activeTexture(gl.TEXTURE0 + unit);
        gl.bindTexture(gl.TEXTURE_2D, renderer.properties.get(value).__webglTexture);
        gl.uniform1i(where, unit);
      } else gl.uniform1i(where, value ? 1 : 0);
    });
    gl.bindBuffer(gl.ARRAY_BUFFER, null);
    const feedback = gl.createTransformFeedback(), buffer = gl.createBuffer(), out = new Float32Array(3 * row.length);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, feedback);
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
    gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, out.byteLength, gl.STATIC_READ);
    gl.enable(gl.RASTERIZER_DISCARD);
    gl.beginTransformFeedback(gl.POINTS);
    gl.drawArrays(gl.POINTS, 0, row.length);
    gl.endTransformFeedback();
    gl.disable(gl.RASTERIZER_DISCARD);
    gl.getBufferSubData(gl.TRANSFORM_FEEDBACK_BUFFER, 0, out);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
    gl.bindVertexArray(null);
    gl.deleteTransformFeedback(feedback);
    gl.deleteBuffer(buffer);
    gl.deleteVertexArray(array);
    gl.deleteProgram(program);
    renderer.resetState();
    return out;
  }

  dispose() {
    this.object.children.forEach((mesh) => mesh.geometry.dispose());
    this.textures.forEach((texture) => texture.dispose());
    this.material.dispose();
    this.depth.dispose();
  }
}

// points that are sent, in two bytes a coordinate
class PointsShape {
  constructor(THREE, told, read, extent) {
    this.count = told.count;
    this.copies = read(told.copies);
    this.values = new Uint16Array(3 * (told.count + this.copies.length));
    this.place3 = new THREE.BufferAttribute(this.values, 3, true);
    const colours = read(told.colours), triangles = read(told.triangles), lines = read(told.lines);
    const one = colours.length === 3, tint = one ? new THREE.Color(...Array.from(colours, (c) => c / 255)) : null;
    if (tint) tint.convertSRGBToLinear();
    const tints = Uint8Array.from(colours, linear);
    this.object = new THREE.Group();
    this.triangles = triangles.length / 3;
    this.box = [0, 0, 0, 1, 1, 1];
    this.materials = [];
    const make = (material, Kind, index) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", this.place3);
      if (index) geometry.setIndex(new THREE.BufferAttribute(index, 1));
      if (!one && Kind === THREE.Mesh) geometry.setAttribute("color", new THREE.BufferAttribute(tints, 3, true));
      const object = new Kind(geometry, material);
      object.frustumCulled = false;
      object.castShadow = object.receiveShadow = Kind === THREE.Mesh;
      this.object.add(object);
      this.materials.push(material);
      return object;
    };
    const plain = tint || new THREE.Color(1, 1, 1);
    if (triangles.length)
      make(new THREE.MeshStandardMaterial({
        color: plain, vertexColors: !one, flatShading: true, side: THREE.DoubleSide, roughness: 0.85, metalness: 0,
      }), THREE.Mesh, triangles);
    if (lines.length) make(new THREE.LineBasicMaterial({ color: plain }), THREE.LineSegments, lines);
    if (told.balls || !(triangles.length || lines.length))
      make(new THREE.PointsMaterial({ color: plain, size: 0.016 * extent }), THREE.Points, null);
  }

  place(frame, at) {
    const box = new Float32Array(frame, at, 6);
    this.box = Array.from(box);
    this.values.set(new Uint16Array(frame, at + 24, 3 * this.count));
    this.copies.forEach((from, k) => this.values.copyWithin(3 * (this.count + k), 3 * from, 3 * from + 3));
    this.place3.needsUpdate = true;
    this.object.position.set(box[0], box[1], box[2]);
    const size = [0, 1, 2].map((i) => Math.max(box[3 + i] - box[i], 1e-30));
    this.object.scale.set(...size);
    return padded(at + 24 + 6 * this.count);
  }

  setWire(on) {
    this.materials.forEach((material) => (material.wireframe = on));
  }

  positions(renderer, numbers) {
    const out = new Float32Array(3 * numbers.length);
    numbers.forEach((point, k) => {
      for (let i = 0; i < 3; ++i)
        out[3 * k + i] = this.box[i] + (this.values[3 * point + i] / 65535) * (this.box[3 + i] - this.box[i]);
    });
    return out;
  }

  dispose() {
    this.object.children.forEach((part) => part.geometry.dispose());
    this.materials.forEach((material) => material.dispose());
  }
}

// ---------------------------------------------------------------- the ground

function makeGround(THREE, header, box, extent) {
  const normal = header.ground ? new THREE.Vector3(...header.ground.slice(0, 3)) : new THREE.Vector3(...header.up);
  const offset = header.ground ? header.ground[3] : box.min.dot(normal);
  const middle = box.getCenter(new THREE.Vector3());
  const foot = middle.clone().addScaledVector(normal, offset - middle.dot(normal));
  const spacing = niceStep(extent / 6), reach = 1.6 * extent;
  const turned = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
  const plane = new THREE.PlaneGeometry(2 * reach, 2 * reach);
  const shadow = new THREE.Mesh(plane, new THREE.ShadowMaterial({ opacity: 0.6, depthWrite: false }));
  const grid = new THREE.Mesh(plane, new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide,
    uniforms: { colour: { value: new THREE.Color(0x9aa3ad) }, spacing: { value: spacing }, reach: { value: reach } },
    vertexShader: "varying vec2 at; void main() { at = position.xy; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: `varying vec2 at; uniform vec3 colour; uniform float spacing, reach;
      void main() {
        vec2 g = abs(fract(at / spacing - 0.5) - 0.5) / fwidth(at / spacing);
        float line = 1.0 - min(min(g.x, g.y), 1.0);
        gl_FragColor = vec4(colour, 0.7 * line * clamp(2.0 * (1.0 - length(at) / reach), 0.0, 1.0));
        #include <colorspace_fragment>
      }`,
  }));
  for (const part of [shadow, grid]) {
    part.position.copy(foot).addScaledVector(normal, -1e-3 * extent);
    part.quaternion.copy(turned);
  }
  shadow.receiveShadow = true;
  return { shadow, grid };
}

// ---------------------------------------------------------------- small things

// how far along a way the camera sees all corners of a box, from its middle
function distanceOfAll(THREE, box, middle, way, up, camera) {
  const right = new THREE.Vector3().crossVectors(up, way).normalize();
  const above = new THREE.Vector3().crossVectors(way, right);
  const high = Math.tan((camera.fov * Math.PI) / 360), wide = high * camera.aspect;
  let found = 0;
  for (let k = 0; k < 8; ++k) {
    const corner = new THREE.Vector3(...[0, 1, 2].map((i) => ((k >> i) & 1 ? box.max : box.min).getComponent(i)));
    corner.sub(middle);
    const near = corner.dot(way);
    found = Math.max(found, near + Math.abs(corner.dot(right)) / wide, near + Math.abs(corner.dot(above)) / high);
  }
  return 1.12 * found || 1;
}

function fillShapes(out, base, kind, read) {
  const X = read(kind.X), U = read(kind.U), scale = read(kind.U.scale), r = kind.modes;
  for (let p = 0; p < kind.points; ++p) {
    const texel = 4 * (base + p * (1 + r));
    for (let i = 0; i < 3; ++i) {
      out[texel + i] = X[3 * p + i];
      for (let l = 0; l < r; ++l) out[texel + 4 * (1 + l) + i] = (U[(3 * p + i) * r + l] / 32767) * scale[l];
    }
  }
}

function prefix(counts) {
  const out = [0];
  for (const count of counts) out.push(out[out.length - 1] + count);
  return out;
}

// the last place of an ascending list that is not above a value
function last(list, value) {
  let low = 0, high = list.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

function colourOf(colours, d) {
  return Array.from(colours.length === 3 ? colours : colours.subarray(3 * d, 3 * d + 3), linear);
}

// bytes of colours as people give them to bytes in which light adds up
function linear(byte) {
  const c = byte / 255;
  return Math.round(255 * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
}

function padded(at) {
  return (at + 3) & ~3;
}

function niceStep(value) {
  const power = 10 ** Math.floor(Math.log10(value)), digits = value / power;
  return power * (digits < 1.5 ? 1 : digits < 3.5 ? 2 : digits < 7.5 ? 5 : 10);
}

function rendererName(renderer) {
  const gl = renderer.getContext(), told = gl.getExtension("WEBGL_debug_renderer_info");
  return gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
}
