// The canvas: draws a scene from a header and frames, in any page that brings three.js.
//
//   const canvas = createCanvas({ THREE, OrbitControls }, element, header, data);
//   canvas.show(frame);          // an ArrayBuffer, as supple.canvas.frames tells
//
// header: the JSON of supple.canvas.header; data: its bytes. Two forms of shapes: "carried", whose points are made in
// the vertex shader from frames and coordinates of domains, and "points", which are sent. Nothing is imported here.

const TYPES = { f4: Float32Array, i2: Int16Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array };
const WIDTH = 1024; // texels in a row of a table
// [ms]: that a picture may take to be copied at once, from which on coarse ones are drawn, until a fine one is tried
// again, between looks whether it is done, and after which all is at rest
const QUICK = 20, SLOW = 60, JUDGE = 20000, LOOK = 3, REST = 300;
const WORK = 250; // [ms] from which on a picture leaves a fifth of the time to others, where the processor draws
const SLIGHT = 0.05; // share of a point that does not make a domain larger
const LIT = 8; // slow pictures of what moves that share a shadow
const SHADOW = { texels: 1024, dark: 0.45, samples: 4 }; // along an edge of the map; how dark; looks at it in a picture at rest
// bytes of colours as people give them to bytes in which light adds up
const LINEAR = Uint8Array.from({ length: 256 }, (_, byte) => {
  const c = byte / 255;
  return Math.round(255 * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
});
const THEMES = {
  light: { background: 0xf4f5f7, grid: 0x9aa3ad, sky: 0xffffff, earth: 0xb9b4ac },
  dark: { background: 0x15181c, grid: 0x59626d, sky: 0xdfe8f2, earth: 0x5a544c },
};

// what a shape needs in its vertex shader: where a point is that hangs on a domain, and the mean of several
const CARRIED = `
  in float row, domain, body;                          // body: which of those that share these points
  uniform int tinted, room, domainCount, coordinateCount;  // tinted: whether any body is; room: tints of each
  uniform highp sampler2D tints;
  uniform highp usampler2D looks;                      // of bodies 0: own colours, 1: a tint a domain, 2: a tint a point
  uniform highp sampler2D frames, coordinates, shapes;
  uniform highp usampler2D table, groups, members;
  uniform highp sampler2D weights;
  uniform bool hasSeams;
  ivec2 at(int k) { return ivec2(k % ${WIDTH}, k / ${WIDTH}); }
  vec3 placed(int d, int base) {                       // o + s R (X + U q)
    uvec4 own = texelFetch(table, at(d), 0);           // first coordinate, modes, first texel, first point
    int first = int(body) * coordinateCount + int(own.x), frame = int(body) * domainCount + d;
    vec3 u = texelFetch(shapes, at(base), 0).xyz;
    for (int l = 0; l < int(own.y); ++l)
      u += texelFetch(shapes, at(base + 1 + l), 0).xyz * texelFetch(coordinates, at(first + l), 0).x;
    vec4 o = texelFetch(frames, at(2 * frame), 0), p = texelFetch(frames, at(2 * frame + 1), 0);
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
  vec3 carriedTint(vec3 own) {
    int d = int(domain), how = int(texelFetch(looks, at(int(body)), 0).x);
    if (how == 0) return own;
    return texelFetch(tints, at(int(body) * room + (how == 1 ? d : int(texelFetch(table, at(d), 0).w) + int(row))), 0).rgb;
  }
`;

// A surface has flat faces, lit by the sky, the earth and a sun that casts shadows. In software a picture costs what is
// done for each corner and each face, so that no more than this is. Places and directions are those of the view.
const SURFACE = {
  vertex: (place, tint, more = "") => `${more}
  varying vec3 seen, tint;
  void main() {
    vec4 at = modelViewMatrix * vec4(${place}, 1.0);
    seen = at.xyz;
    tint = ${tint};
    gl_Position = projectionMatrix * at;
  }`,
  light: `
  varying vec3 seen;
  uniform mat4 toShadow;
  uniform highp sampler2DShadow shadows;
  uniform int samples;                                 // of the map of shadows; 0: there are none
  float lit() {                                        // how much of the sun comes here
    vec3 at = (toShadow * vec4(seen, 1.0)).xyz;
    if (any(greaterThan(abs(at - 0.5), vec3(0.5)))) return 1.0;
    float all = 0.0;
    for (int k = 0; k < samples; ++k) {
      vec2 beside = samples == 1 ? vec2(0.0) : vec2(float(k & 1), float(k >> 1)) - 0.5;
      all += texture(shadows, vec3(at.xy + beside * ${(1.5 / SHADOW.texels).toFixed(6)}, at.z - 5e-4));
    }
    return samples == 0 ? 1.0 : 1.0 - ${SHADOW.dark} * (1.0 - all / float(samples));
  }`,
  fragment: `
  varying vec3 tint;
  uniform vec3 colour, up, sunward, sky, earth, sun;
  void main() {
    vec3 normal = normalize(cross(dFdx(seen), dFdy(seen)));
    vec3 light = mix(earth, sky, 0.5 + 0.5 * dot(normal, up)) + sun * max(dot(normal, sunward), 0.0) * lit();
    gl_FragColor = vec4(colour * tint * light, 1.0);
    #include <colorspace_fragment>
  }`,
};

// reads arrays that JSON tells places of in bytes, see supple.canvas.pack
export function readerOf(data, start = 0) {
  return ({ at, count, type }) => new TYPES[type](data, start + at, count);
}

export function createCanvas({ THREE, OrbitControls }, element, header, data, options = {}) {
  if (header.version !== 2) throw new Error(`This page draws scenes of version 2, not ${header.version}.`);
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) throw new Error("This browser has no WebGL 2, which drawing needs. Try a current Chrome, Firefox or Safari.");
  const read = readerOf(data);

  const renderer = new THREE.WebGLRenderer({ antialias: false, depth: false, preserveDrawingBuffer: !!options.keep });
  renderer.shadowMap.enabled = true;
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
  // with Shift the left button turns the view too, where a person who drags without it would hold a body: these controls
  // exchange turning and moving with Shift
  view.addEventListener("pointerdown", ({ shiftKey }) => {
    orbit.mouseButtons.LEFT = shiftKey ? THREE.MOUSE.PAN : THREE.MOUSE.ROTATE;
  }, { capture: true });
  const sun = new THREE.DirectionalLight();
  sun.castShadow = true;
  scene.add(sun, sun.target);
  const light = new Light(THREE, camera, sun, up);

  const box = new THREE.Box3(new THREE.Vector3(...header.box[0]), new THREE.Vector3(...header.box[1]));
  const middle = box.getCenter(new THREE.Vector3());
  const extent = box.getSize(new THREE.Vector3()).length() || 1;
  const ground = makeGround(THREE, header, box, extent, light);
  scene.add(ground.plane);
  const flocks = makeFlocks(THREE, renderer, header, read, light);
  const shapes = header.shapes.map((told, k) =>
    told.form === "carried" ? new CarriedShape(...flocks.get(k)) : new PointsShape(THREE, renderer, told, read, extent, light));
  const models = new Set(Array.from(flocks.values(), ([model]) => model));
  new Set(shapes.map((shape) => shape.object)).forEach((object) => scene.add(object));

  const shapeOf = (name) => {
    const shape = shapes[canvas.names.indexOf(name)];
    if (!shape) throw new Error(`There is no shape '${name}'.`);
    return shape;
  };
  const bodies = shapes.filter((_, k) => header.shapes[k].kind === "body");
  const followed = { shape: null, at: new THREE.Vector3() };
  const follow = () => {
    if (!followed.shape) return;
    const now = followed.shape.bounds(new THREE.Box3()).getCenter(new THREE.Vector3()), way = now.clone().sub(followed.at);
    followed.at.copy(now);
    for (const part of [camera.position, orbit.target, sun.position, sun.target.position]) part.add(way);
    orbit.update();
  };

  const canvas = {
    element: view,
    scene, // for what others draw beside the shapes
    camera,
    shapes,
    bodyCount: bodies.length, // the first shapes are bodies
    frame: { number: -1, step: 0, time: 0 },
    applied: 0, // frames that were received and handed to the graphics card
    drawn: 0, // pictures
    drawnFine: 0, // of them in full resolution, with shadows of now
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
      models.forEach((model) => model.upload());
      canvas.applied += 1;
      follow();
      canvas.touch();
      if (canvas.onshow) canvas.onshow(canvas.frame);
    },

    // see all of it, as it is now, from where it is seen now, or from the front
    fit(direction) {
      let outline = header.outline?.length ? header.outline : cornersOf(box);
      if (canvas.applied) {
        outline = bodies.flatMap((shape) => shape.outline());
        bodies.reduce((all, shape) => all.union(shape.bounds(new THREE.Box3())), box.makeEmpty());
        if (box.isEmpty()) box.set(new THREE.Vector3(...header.box[0]), new THREE.Vector3(...header.box[1]));
        box.getCenter(middle);
      }
      const way = direction ? new THREE.Vector3(...direction) : camera.position.clone().sub(orbit.target);
      if (way.length() < 1e-9) way.set(0.55, -0.75, 0.35); // from the front, a little above
      const distance = frameAll(THREE, outline, orbit.target.copy(middle), way.normalize(), up, camera);
      camera.position.copy(orbit.target).addScaledVector(way, distance);
      camera.far = Math.max(60 * extent, 4 * distance); // bodies may have flown far apart
      camera.near = camera.far / 12000;
      camera.updateProjectionMatrix();
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
      light.setColours(theme.sky, theme.earth);
      ground.plane.material.uniforms.colour.value.set(theme.grid);
      canvas.touch();
    },

    setShadows(on) {
      sun.castShadow = on;
      canvas.touch();
    },

    // whether pictures may be coarse while something moves; at first they may
    setCoarse(on) {
      mayCoarse = on;
      canvas.touch();
    },

    setWire(on) {
      shapes.forEach((shape) => shape.setWire(on));
      canvas.touch();
    },

    // colour a shape by bytes of red, green, blue: of each "point" or "domain", or of "all"; null: in its own colours
    tint(name, per, colours) {
      shapeOf(name).tint(per, colours && Uint8Array.from(colours, (byte) => LINEAR[byte]));
      canvas.touch();
    },

    // keep a shape in the middle as it moves; null: nothing
    follow(name) {
      followed.shape = name ? shapeOf(name) : null;
      if (!name || !canvas.applied) return canvas.touch();
      followed.at.copy(orbit.target);
      follow();
    },

    // turn the view by angles [rad] to the right and up, move it by parts of its height, or come nearer by a factor
    turn(right, above) {
      const way = camera.position.clone().sub(orbit.target), side = new THREE.Vector3().crossVectors(up, way).normalize();
      const high = Math.PI / 2 - way.angleTo(up), most = 1.5;
      way.applyAxisAngle(side, high - Math.max(-most, Math.min(most, high + above)));
      way.applyAxisAngle(up, right);
      camera.position.copy(orbit.target).add(way);
      orbit.update();
      canvas.touch();
    },
    pan(right, above) {
      const height = 2 * Math.tan((camera.fov * Math.PI) / 360) * camera.position.distanceTo(orbit.target);
      const axis = (k) => new THREE.Vector3().setFromMatrixColumn(camera.matrix, k);
      const way = axis(0).multiplyScalar(right * height).addScaledVector(axis(1), above * height);
      for (const part of [camera.position, orbit.target]) part.add(way);
      orbit.update();
      canvas.touch();
    },
    zoom(factor) {
      camera.position.sub(orbit.target).divideScalar(factor).add(orbit.target);
      orbit.update();
      canvas.touch();
    },

    // world positions of some points of a shape as the shader finds them, (3 n) numbers
    positions(name, numbers) {
      return shapeOf(name).positions(renderer, numbers);
    },

    // middle and size of a shape as it is now, [x, y, z] each
    extent(name) {
      const found = shapeOf(name).bounds(new THREE.Box3());
      return { middle: found.getCenter(new THREE.Vector3()).toArray(), size: found.getSize(new THREE.Vector3()).toArray() };
    },

    // whether some of a body lies in the picture, as far as the boxes of bodies tell
    sees() {
      camera.updateMatrixWorld();
      const way = new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
      const picture = new THREE.Frustum().setFromProjectionMatrix(way);
      return bodies.some((shape) => picture.intersectsBox(shape.bounds(new THREE.Box3())));
    },

    // where the camera is, a ray through a point of the window, and the way the camera looks, 9 numbers
    ray(x, y) {
      const place = view.getBoundingClientRect();
      const at = new THREE.Vector3((2 * (x - place.left)) / place.width - 1, 1 - (2 * (y - place.top)) / place.height, 0.5);
      const ray = at.unproject(camera).sub(camera.position).normalize();
      const forward = camera.getWorldDirection(new THREE.Vector3());
      return [...camera.position.toArray(), ...ray.toArray(), ...forward.toArray()];
    },

    // whether a body is seen at a point of the window: one pixel is drawn
    hits(x, y) {
      const place = view.getBoundingClientRect(), hidden = scene.children.filter((part) => part.isLight ? false : part.visible);
      const own = new Set(bodies.map((shape) => shape.object)), { background } = scene, pixel = new Uint8Array(4);
      const target = new THREE.WebGLRenderTarget(1, 1), clear = renderer.getClearAlpha(), { autoUpdate } = renderer.shadowMap;
      hidden.forEach((part) => (part.visible = own.has(part)));
      scene.background = null;
      renderer.shadowMap.autoUpdate = false;
      renderer.setClearAlpha(0);
      camera.setViewOffset(place.width, place.height, x - place.left, y - place.top, 1, 1);
      renderer.setRenderTarget(target);
      renderer.clear();
      renderer.render(scene, camera);
      renderer.readRenderTargetPixels(target, 0, 0, 1, 1, pixel);
      renderer.setRenderTarget(null);
      renderer.setClearAlpha(clear);
      camera.clearViewOffset();
      hidden.forEach((part) => (part.visible = true));
      renderer.shadowMap.autoUpdate = autoUpdate;
      scene.background = background;
      target.dispose();
      return pixel[3] > 0;
    },

    // where a point of the world is seen in the window, [x, y]
    seen(place) {
      const at = new THREE.Vector3(...place).project(camera), box = view.getBoundingClientRect();
      return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
    },

    touch() {
      wanted = true;
      clearTimeout(resting);
      if (!waiting && !fence) waiting = requestAnimationFrame(draw);
    },

    resize() {
      const width = Math.max(1, element.clientWidth), height = Math.max(1, element.clientHeight);
      renderer.setSize(width, height, false);
      for (const kind of [fine, coarse]) {
        kind.target.setSize(Math.ceil(kind.scale * view.width), Math.ceil(kind.scale * view.height));
        kind.took = 0; // what is seen is empty now
      }
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      canvas.touch();
    },

    // a picture now, as a data URL
    picture() {
      [picture, whole] = [fine, true];
      render();
      copy();
      return view.toDataURL("image/png");
    },

    dispose() {
      cancelAnimationFrame(waiting);
      [waiting, looking, resting].forEach(clearTimeout);
      [fine, coarse].forEach(({ target }) => target.dispose());
      observer.disconnect();
      orbit.dispose();
      shapes.forEach((shape) => shape.dispose?.());
      models.forEach((model) => model.dispose());
      light.dispose();
      renderer.dispose();
      view.remove();
    },
  };

  // Pictures are drawn aside, one at a time, and copied into view when they are done: a slow graphics card then keeps
  // neither frames nor the page waiting. Where the last one was quick, the next one is copied at once. Where fine ones
  // are slow, coarse ones are drawn while something moves, and a fine one when it rests; and fine ones that are not quick
  // share shadows while something moves, at which they look once. The view has as many pixels as
  // the picture, which the browser stretches: it takes fewer of them from the graphics card.
  const gl = renderer.getContext();
  const target = (samples, scale) => {
    const made = new THREE.WebGLRenderTarget(1, 1, { samples, colorSpace: renderer.outputColorSpace });
    made.isXRRenderTarget = true; // so that colours are those of a screen, not light
    made.texture.internalFormat = "RGBA8";
    return { target: made, scale, took: 0 };
  };
  const fine = target(4, 1), coarse = target(0, 0.5);
  let picture = fine, whole = true, waiting = 0, looking = 0, resting = 0, fence = null, wanted = false, shown = true, began = 0, judged = 0, lit = 0, mayCoarse = true;
  function draw() {
    waiting = 0;
    began = performance.now();
    picture = mayCoarse && wanted && fine.took > SLOW && began - judged < JUDGE ? coarse : fine;
    whole = picture === fine && (!wanted || fine.took < QUICK);
    wanted = false;
    render();
    fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    shown = picture.took < QUICK;
    if (shown) copy();
    looking = setTimeout(look, 0);
  }
  function look() {
    if (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED && !gl.isContextLost()) return (looking = setTimeout(look, LOOK));
    gl.deleteSync(fence);
    fence = null;
    picture.took = performance.now() - began;
    if (picture === fine) judged = performance.now();
    if (!shown) waiting = requestAnimationFrame(present);
    else goOn();
  }
  function present() {
    waiting = 0;
    copy();
    goOn();
  }
  function goOn() {
    if (wanted) waiting = setTimeout(draw, picture.took > WORK ? picture.took / 4 : 0); // the copy is on the screen then
    else if (!whole) resting = setTimeout(() => (waiting ||= requestAnimationFrame(draw)), REST);
  }
  function render() {
    ground.under(orbit.target);
    light.sample(whole ? SHADOW.samples : 1);
    shapes.forEach((shape) => shape.setScale?.(picture.scale));
    renderer.shadowMap.autoUpdate = whole || lit++ % LIT === 0;
    renderer.setRenderTarget(picture.target);
    renderer.render(scene, camera);
    renderer.setRenderTarget(null);
  }
  function copy() {
    const { width, height } = picture.target, { state } = renderer;
    const drawn = renderer.properties.get(picture.target).__webglFramebuffer;
    if (!drawn) return void (wanted = true); // the window has another size by now
    if (view.width !== width || view.height !== height) [view.width, view.height] = [width, height];
    state.bindFramebuffer(gl.READ_FRAMEBUFFER, drawn);
    state.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    state.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    canvas.drawn += 1;
    canvas.drawnFine += Number(whole);
  }
  orbit.addEventListener("change", () => canvas.touch());
  const observer = new ResizeObserver(() => canvas.resize());
  observer.observe(element);
  canvas.resize();
  canvas.setTheme(options.theme || "light");
  canvas.fit(options.from || [0.55, -0.75, 0.35]);
  return canvas;
}

// ---------------------------------------------------------------- light

// sky and earth from above and below, and a sun whose shadows lie in a map of depths; uniforms of all that it falls on
class Light {
  constructor(THREE, camera, sun, up) {
    Object.assign(this, { THREE, camera, sun, above: up, samples: 1 });
    const { texels } = SHADOW, depths = new THREE.DepthTexture(texels, texels, THREE.FloatType);
    depths.compareFunction = THREE.LessEqualCompare;
    depths.minFilter = depths.magFilter = THREE.LinearFilter;
    sun.shadow.mapSize.set(texels, texels);
    sun.shadow.map = new THREE.WebGLRenderTarget(texels, texels, { depthTexture: depths });
    // only depths are drawn into it
    this.depth = this.caster("", "position");
    const vector = () => ({ value: new THREE.Vector3() });
    this.uniforms = {
      up: vector(), sunward: vector(), sky: { value: new THREE.Color() }, earth: { value: new THREE.Color() },
      sun: { value: new THREE.Color(1, 1, 1).multiplyScalar(2.2 / Math.PI) },
      toShadow: { value: new THREE.Matrix4() }, shadows: { value: depths }, samples: { value: 1 },
    };
    this.shine = this.shine.bind(this);
  }

  setColours(sky, earth) {
    this.uniforms.sky.value.set(sky).multiplyScalar(1.6 / Math.PI);
    this.uniforms.earth.value.set(earth).multiplyScalar(1.6 / Math.PI);
  }

  // so many looks at the map of shadows; the directions as the camera sees them now
  sample(count) {
    const { camera, sun, uniforms } = this;
    uniforms.samples.value = sun.castShadow ? count : 0;
    camera.updateMatrixWorld();
    uniforms.up.value.copy(this.above).transformDirection(camera.matrixWorldInverse);
    uniforms.sunward.value.copy(sun.position).sub(sun.target.position).transformDirection(camera.matrixWorldInverse);
  }

  // before something is drawn: the map is known then
  shine() {
    this.uniforms.toShadow.value.multiplyMatrices(this.sun.shadow.matrix, this.camera.matrixWorld);
  }

  // what draws a surface; place, tint: of a point, in the language of shaders
  surface(more, place, tint, given) {
    const { vertex, light, fragment } = SURFACE, { uniforms, ...others } = given;
    return new this.THREE.ShaderMaterial({
      vertexShader: vertex(place, tint, more), fragmentShader: light + fragment,
      uniforms: { colour: { value: new this.THREE.Color(1, 1, 1) }, ...this.uniforms, ...uniforms }, vertexColors: true, ...others,
    });
  }

  // what draws its depths
  caster(more, place, uniforms = {}) {
    return new this.THREE.ShaderMaterial({
      vertexShader: `${more} void main() { gl_Position = projectionMatrix * modelViewMatrix * vec4(${place}, 1.0); }`,
      fragmentShader: "void main() {}", uniforms, colorWrite: false,
    });
  }

  dispose() {
    this.depth.dispose();
    this.sun.shadow.map.dispose();
  }
}

// ---------------------------------------------------------------- shapes

// the bodies of each model that can be drawn together: those of one kind, and where faces lie between domains, whose
// colours are alike or one a body. Of each carried shape its model, and its number among those that share it
function makeFlocks(THREE, renderer, header, read, light) {
  const flocks = new Map(), found = new Map();
  header.shapes.forEach((told, k) => {
    if (told.form !== "carried") return;
    const many = header.models[told.model].faces && told.colours.count > 3;
    const key = [told.model, told.kind, many ? told.colours.at : header.models[told.model].faces ? "one" : "own"].join();
    if (!flocks.has(key)) flocks.set(key, []);
    flocks.get(key).push(k);
  });
  for (const members of flocks.values()) {
    const colours = members.map((k) => read(header.shapes[k].colours));
    const model = new CarriedModel(THREE, renderer, header.models[header.shapes[members[0]].model], colours, read, light);
    members.forEach((k, number) => found.set(k, [model, number]));
  }
  return found;
}

// points that hang on frames of domains, of one or more bodies; copies of a kind, and of the bodies, are instances
class CarriedModel {
  constructor(THREE, renderer, told, tintsOf, read, light) {
    this.THREE = THREE;
    this.renderer = renderer;
    this.light = light;
    const kindOf = read(told.kind_of), domains = kindOf.length, bodies = tintsOf.length;
    const scale = read(told.scale), seams = read(told.seams), starts = read(told.groups);
    const modes = told.kinds.map((kind) => kind.modes);
    const bases = prefix(told.kinds.map((kind) => kind.points * (1 + kind.modes)));
    const firstPoint = prefix(Array.from(kindOf, (k) => told.kinds[k].points));
    const firstCoordinate = prefix(Array.from(kindOf, (k) => modes[k]));
    this.scaleStart = prefix(modes);
    Object.assign(this, { kindOf, domains, bodies, scale, modes, firstCoordinate, firstPoint });
    this.coordinateCount = firstCoordinate[domains];

    const shapes = this.table(bases[told.kinds.length], "RGBA", Float32Array);
    told.kinds.forEach((kind, k) => fillShapes(shapes.image.data, bases[k], kind, read));
    const table = this.table(domains, "RGBA", Uint32Array);
    for (let d = 0; d < domains; ++d)
      table.image.data.set([firstCoordinate[d], modes[kindOf[d]], bases[kindOf[d]], firstPoint[d]], 4 * d);
    this.frames = this.table(2 * domains * bodies, "RGBA", Float32Array);
    this.coordinates = this.table(Math.max(1, this.coordinateCount * bodies), "R", Float32Array);
    const groups = this.table(seams.length ? firstPoint[domains] : 1, "RG", Uint32Array);
    const members = this.table(Math.max(1, seams.length), "RG", Uint32Array);
    const weights = this.table(Math.max(1, seams.length), "R", Float32Array);
    const given = told.weights ? read(told.weights) : null;
    const share = told.kinds.map((kind) => new Float32Array(kind.points).fill(-1)); // the largest in any copy; -1: whole
    for (let g = 0; g + 1 < starts.length; ++g)
      for (let k = starts[g]; k < starts[g + 1]; ++k) {
        groups.image.data.set([starts[g], starts[g + 1] - starts[g]], 2 * seams[k]);
        const d = last(firstPoint, seams[k]), kind = kindOf[d];
        members.image.data.set([d, bases[kind] + (seams[k] - firstPoint[d]) * (1 + modes[kind])], 2 * k);
        weights.image.data[k] = given ? given[k] : 1 / (starts[g + 1] - starts[g]);
        const own = seams[k] - firstPoint[d];
        share[kind][own] = Math.max(share[kind][own], Math.abs(weights.image.data[k]));
      }
    this.boxes = told.kinds.map((kind, k) => boxOf(read(kind.X), share[k]));
    this.textures = [shapes, table, this.frames, this.coordinates, groups, members, weights];
    this.uniforms = {
      frames: { value: this.frames }, coordinates: { value: this.coordinates }, shapes: { value: shapes },
      table: { value: table }, groups: { value: groups }, members: { value: members }, weights: { value: weights },
      hasSeams: { value: seams.length > 0 }, domainCount: { value: domains }, coordinateCount: { value: this.coordinateCount },
    };
    this.tinting = {
      tinted: { value: 0 }, room: { value: 0 }, tints: { value: this.table(1, "RGBA", Uint8Array) },
      looks: { value: this.table(bodies, "RG", Uint32Array) },
    };
    const own = { ...this.uniforms, ...this.tinting };
    this.material = light.surface(CARRIED, "carriedPoint()", "tinted > 0 ? carriedTint(color) : color", {
      uniforms: own, side: told.closed ? THREE.FrontSide : THREE.DoubleSide,
    });
    this.depth = light.caster(CARRIED, "carriedPoint()", own);
    this.object = new THREE.Group();
    this.triangles = 0;
    if (told.faces) this.addWhole(read(told.faces), tintsOf, firstPoint);
    else told.kinds.forEach((kind, k) => this.addKind(kind, k, read, tintsOf));
  }

  table(count, channels, Kind) {
    const { THREE } = this, whole = Kind === Uint32Array, bytes = Kind === Uint8Array;
    const size = { R: 1, RG: 2, RGBA: 4 }[channels];
    const height = Math.max(1, Math.ceil(count / WIDTH));
    const format = { R: "Red", RG: "RG", RGBA: "RGBA" }[channels] + (whole ? "IntegerFormat" : "Format");
    const texture = new THREE.DataTexture(new Kind(WIDTH * height * size), WIDTH, height, THREE[format],
      whole ? THREE.UnsignedIntType : bytes ? THREE.UnsignedByteType : THREE.FloatType);
    texture.internalFormat = bytes ? `${channels}8` : `${channels}32${whole ? "UI" : "F"}`;
    texture.needsUpdate = true;
    return texture;
  }

  addMesh(geometry, count) {
    const mesh = new this.THREE.Mesh(geometry, this.material);
    mesh.customDepthMaterial = this.depth;
    mesh.frustumCulled = false;
    mesh.castShadow = true;
    mesh.onBeforeRender = this.light.shine;
    this.object.add(mesh);
    this.triangles += count;
  }

  addKind(kind, number, read, tintsOf) {
    const { THREE } = this, own = [];
    this.kindOf.forEach((k, d) => k === number && own.push(d));
    const index = read(kind.triangles);
    if (!own.length || !index.length) return;
    const geometry = this.instanced(own.length * this.bodies), copies = tintsOf.flatMap((_, body) => own.map((d) => [body, d]));
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    const rows = Float32Array.from({ length: kind.points }, (_, k) => k);
    geometry.setAttribute("row", new THREE.BufferAttribute(rows, 1));
    geometry.setAttribute("domain", new THREE.InstancedBufferAttribute(Float32Array.from(copies, ([, d]) => d), 1));
    geometry.setAttribute("body", new THREE.InstancedBufferAttribute(Float32Array.from(copies, ([body]) => body), 1));
    const tint = Uint8Array.from(copies.flatMap(([body, d]) => colourOf(tintsOf[body], d)));
    geometry.setAttribute("color", new THREE.InstancedBufferAttribute(tint, 3, true));
    this.addMesh(geometry, (copies.length * index.length) / 3);
  }

  instanced(count) {
    const geometry = new this.THREE.InstancedBufferGeometry();
    geometry.instanceCount = count;
    return geometry;
  }

  addWhole(faces, tintsOf, firstPoint) {
    const { THREE, domains, bodies } = this, count = firstPoint[domains], geometry = this.instanced(bodies);
    const row = new Float32Array(count), domain = new Float32Array(count);
    for (let d = 0; d < domains; ++d)
      for (let k = firstPoint[d]; k < firstPoint[d + 1]; ++k) {
        row[k] = k - firstPoint[d];
        domain[k] = d;
      }
    geometry.setIndex(new THREE.BufferAttribute(faces, 1));
    geometry.setAttribute("row", new THREE.BufferAttribute(row, 1));
    geometry.setAttribute("domain", new THREE.BufferAttribute(domain, 1));
    geometry.setAttribute("body", new THREE.InstancedBufferAttribute(Float32Array.from(tintsOf, (_, body) => body), 1));
    const one = tintsOf[0].length === 3; // of each body, or of the domains, alike in all
    const tint = Uint8Array.from(one ? tintsOf.flatMap((own) => colourOf(own, 0)) : Array.from(domain).flatMap((d) => colourOf(tintsOf[0], d)));
    geometry.setAttribute("color", new (one ? THREE.InstancedBufferAttribute : THREE.BufferAttribute)(tint, 3, true));
    this.addMesh(geometry, (bodies * faces.length) / 3);
  }

  place(body, frame, at) {
    const d = this.domains, scales = this.scaleStart[this.modes.length];
    const box = new Float32Array(frame, at, 6), scale = new Float32Array(frame, at + 24, scales);
    const start = at + 24 + 4 * scales, n = this.coordinateCount;
    const o = new Uint16Array(frame, start, 3 * d), turn = new Int16Array(frame, start + 6 * d, 4 * d);
    const q = new Int16Array(frame, start + 14 * d, n);
    const out = this.frames.image.data.subarray(8 * body * d), coordinates = this.coordinates.image.data.subarray(body * n);
    for (let k = 0; k < d; ++k) {
      for (let i = 0; i < 3; ++i) out[8 * k + i] = box[i] + (o[3 * k + i] / 65535) * (box[3 + i] - box[i]);
      out[8 * k + 3] = this.scale[k];
      const w = turn[4 * k], x = turn[4 * k + 1], y = turn[4 * k + 2], z = turn[4 * k + 3];
      const size = 1 / (Math.sqrt(w * w + x * x + y * y + z * z) || 1);
      out[8 * k + 4] = x * size;
      out[8 * k + 5] = y * size;
      out[8 * k + 6] = z * size;
      out[8 * k + 7] = w * size;
      const first = this.firstCoordinate[k], own = this.scaleStart[this.kindOf[k]], r = this.modes[this.kindOf[k]];
      for (let l = 0; l < r; ++l) coordinates[first + l] = (q[first + l] / 32767) * scale[own + l];
    }
    this.isNew = true;
    return padded(start + 14 * d + 2 * n);
  }

  // hand over what was placed now, not when the next picture is drawn
  upload() {
    if (!this.isNew) return;
    this.isNew = false;
    for (const texture of [this.frames, this.coordinates]) {
      texture.needsUpdate = true;
      this.renderer.initTexture(texture);
    }
  }

  tint(body, per, colours) {
    const { tinted, room, tints, looks } = this.tinting, how = looks.value.image.data;
    how[2 * body] = !colours ? 0 : per === "point" ? 2 : 1;
    looks.value.needsUpdate = true;
    tinted.value = Number(how.some((one) => one > 0));
    if (!colours) return;
    const count = per === "point" ? this.firstPoint[this.domains] : this.domains;
    if (room.value < count) this.makeRoom(count);
    const out = tints.value.image.data.subarray(4 * body * room.value), one = per === "all";
    for (let k = 0; k < count; ++k) for (let i = 0; i < 3; ++i) out[4 * k + i] = colours[(one ? 0 : 3 * k) + i];
    tints.value.needsUpdate = true;
  }

  // for so many tints of each body; those that are there stay
  makeRoom(count) {
    const { room, tints } = this.tinting, old = tints.value, before = room.value;
    tints.value = this.table(count * this.bodies, "RGBA", Uint8Array);
    for (let body = 0; body < this.bodies; ++body)
      tints.value.image.data.set(old.image.data.subarray(4 * body * before, 4 * (body + 1) * before), 4 * body * count);
    room.value = count;
    old.dispose();
  }

  // by transform feedback, with the shader that draws
  positions(body, renderer, numbers) {
    const gl = renderer.getContext(), bodies = new Float32Array(numbers.length).fill(body);
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
    for (const [name, values] of [["row", row], ["domain", domain], ["body", bodies]]) {
      if (gl.getAttribLocation(program, name) < 0) continue;
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
      } else gl.uniform1i(where, Number(value));
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
    [this.tinting.tints, this.tinting.looks].forEach(({ value }) => value.dispose());
    this.material.dispose();
    this.depth.dispose();
  }
}

// one of the bodies of a model
class CarriedShape {
  constructor(model, number) {
    const { THREE, domains, kindOf, scale, boxes, object, material } = model;
    Object.assign(this, { THREE, model, number, domains, kindOf, scale, boxes, object, material });
    this.triangles = model.triangles / model.bodies;
    this.first = number * domains;
  }

  place(frame, at) {
    return this.model.place(this.number, frame, at);
  }

  tint(per, colours) {
    this.model.tint(this.number, per, colours);
  }

  // of a domain: its origin and scale, and the turn of its axes (x, y, z, w), eight numbers
  frame(d) {
    return this.model.frames.image.data.subarray(8 * (this.first + d), 8 * (this.first + d + 1));
  }

  // the middle of a domain's own box, as its frame carries it; out: three numbers
  centre(d, out) {
    const [low, high] = this.boxes[this.kindOf[d]], f = this.frame(d);
    const [x, y, z] = [0, 1, 2].map((i) => (f[3] * (low[i] + high[i])) / 2), [px, py, pz, pw] = f.subarray(4, 8);
    const ux = py * z - pz * y + pw * x, uy = pz * x - px * z + pw * y, uz = px * y - py * x + pw * z;
    out[0] = f[0] + x + 2 * (py * uz - pz * uy);
    out[1] = f[1] + y + 2 * (pz * ux - px * uz);
    out[2] = f[2] + z + 2 * (px * uy - py * ux);
    return out;
  }

  // columns of a domain's rotation: its axes in the world, nine numbers
  axes(d) {
    const [x, y, z, w] = this.frame(d).subarray(4, 8);
    return [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w),
      2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
      2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)];
  }

  // half the size of a domain's own box along its axes [m]
  half(d) {
    const [low, high] = this.boxes[this.kindOf[d]], scale = this.scale[d];
    return [0, 1, 2].map((i) => (scale * (high[i] - low[i])) / 2);
  }

  // the box of the boxes of all domains, as their frames carry them
  bounds(box) {
    const centre = [0, 0, 0], point = new this.THREE.Vector3();
    for (let d = 0; d < this.domains; ++d) {
      const R = this.axes(d), h = this.half(d);
      this.centre(d, centre);
      const reach = [0, 1, 2].map((i) => Math.abs(R[i]) * h[0] + Math.abs(R[3 + i]) * h[1] + Math.abs(R[6 + i]) * h[2]);
      box.expandByPoint(point.set(centre[0] - reach[0], centre[1] - reach[1], centre[2] - reach[2]));
      box.expandByPoint(point.set(centre[0] + reach[0], centre[1] + reach[1], centre[2] + reach[2]));
    }
    return box;
  }

  // corners of the boxes of all domains
  outline() {
    const out = [], c = [0, 0, 0];
    for (let d = 0; d < this.domains; ++d) {
      const R = this.axes(d), h = this.half(d);
      this.centre(d, c);
      for (let k = 0; k < 8; ++k) {
        const [a, b, e] = [0, 1, 2].map((i) => ((k >> i) & 1 ? h[i] : -h[i]));
        out.push([0, 1, 2].map((i) => c[i] + a * R[i] + b * R[3 + i] + e * R[6 + i]));
      }
    }
    return out;
  }

  setWire(on) {
    this.material.wireframe = on;
  }

  positions(renderer, numbers) {
    return this.model.positions(this.number, renderer, numbers);
  }
}

// points that are sent, in two bytes a coordinate
class PointsShape {
  constructor(THREE, renderer, told, read, extent, light) {
    this.THREE = THREE;
    this.count = told.count;
    this.copies = read(told.copies);
    this.values = new Uint16Array(4 * (told.count + this.copies.length)); // the fourth fills: cards read eight bytes at a time
    // a buffer of our own, so that points are handed over when they come, not when the next picture is drawn
    const gl = (this.gl = renderer.getContext());
    this.buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.values.byteLength, gl.STREAM_DRAW);
    const places = new THREE.GLBufferAttribute(this.buffer, gl.UNSIGNED_SHORT, 4, 2, this.values.length / 4, true);
    const colours = read(told.colours), triangles = read(told.triangles), lines = read(told.lines);
    const one = colours.length === 3, tint = one ? new THREE.Color(...Array.from(colours, (c) => c / 255)) : null;
    if (tint) tint.convertSRGBToLinear();
    this.own = one ? new Uint8Array((3 * this.values.length) / 4).fill(255) : Uint8Array.from(colours, (byte) => LINEAR[byte]);
    this.tints = new THREE.BufferAttribute(this.own.slice(), 3, true);
    this.object = new THREE.Group();
    this.triangles = triangles.length / 3;
    this.box = [0, 0, 0, 1, 1, 1];
    this.materials = [];
    const make = (material, Kind, index) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", places);
      geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(0.5, 0.5, 0.5), 1); // of the box
      if (index) geometry.setIndex(new THREE.BufferAttribute(index, 1));
      geometry.setAttribute("color", this.tints);
      const object = new Kind(geometry, material);
      object.frustumCulled = false;
      if (Kind === THREE.Mesh) {
        object.castShadow = true;
        object.customDepthMaterial = light.depth;
        object.onBeforeRender = light.shine;
      }
      this.object.add(object);
      this.materials.push(material);
      return object;
    };
    const plain = tint || new THREE.Color(1, 1, 1);
    this.plain = plain.clone();
    if (triangles.length)
      this.solid = make(light.surface("", "position", "color", {
        uniforms: { colour: { value: plain.clone() } }, side: THREE.DoubleSide,
      }), THREE.Mesh, triangles);
    this.faces = told.closed ? triangles : null; // until it is known whether they face outward
    if (lines.length) make(new THREE.LineBasicMaterial({ color: plain, vertexColors: true }), THREE.LineSegments, lines);
    this.size = 0.016 * extent;
    if (told.balls || !(triangles.length || lines.length))
      this.dots = make(new THREE.PointsMaterial({ color: plain, vertexColors: true, size: this.size }), THREE.Points, null).material;
  }

  place(frame, at) {
    const box = new Float32Array(frame, at, 6);
    this.box = Array.from(box);
    const sent = new Uint16Array(frame, at + 24, 3 * this.count), x = this.values;
    for (let k = 0, from = 0, to = 0; k < this.count; ++k, from += 3, to += 4) {
      x[to] = sent[from];
      x[to + 1] = sent[from + 1];
      x[to + 2] = sent[from + 2];
    }
    this.copies.forEach((from, k) => x.copyWithin(4 * (this.count + k), 4 * from, 4 * from + 4));
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffer);
    this.gl.bufferSubData(this.gl.ARRAY_BUFFER, 0, x);
    this.object.position.set(box[0], box[1], box[2]);
    const size = [0, 1, 2].map((i) => Math.max(box[3 + i] - box[i], 1e-30));
    this.object.scale.set(...size);
    if (this.faces) this.hideBacks(size);
    return padded(at + 24 + 6 * this.count);
  }

  // of a closed surface that holds space: nobody outside sees the back of a triangle
  hideBacks([a, b, c]) {
    let volume = 0;
    const x = this.values, faces = this.faces;
    for (let k = 0; k < faces.length; k += 3) {
      const [p, q, r] = [4 * faces[k], 4 * faces[k + 1], 4 * faces[k + 2]];
      const [ux, uy, uz] = [x[q] - x[p], x[q + 1] - x[p + 1], x[q + 2] - x[p + 2]];
      const [vx, vy, vz] = [x[r] - x[p], x[r + 1] - x[p + 1], x[r + 2] - x[p + 2]];
      volume += x[p] * (uy * vz - uz * vy) + x[p + 1] * (uz * vx - ux * vz) + x[p + 2] * (ux * vy - uy * vx);
    }
    this.faces = null;
    if (volume * a * b * c <= 0) return;
    this.solid.material.side = this.THREE.FrontSide;
    this.solid.material.needsUpdate = true;
  }

  tint(per, colours) {
    for (const { uniforms, color } of this.materials) (uniforms?.colour.value ?? color).copy(colours ? new this.THREE.Color(1, 1, 1) : this.plain);
    const out = this.tints.array;
    if (!colours) out.set(this.own);
    else if (per === "point") {
      out.set(colours.subarray(0, 3 * this.count));
      this.copies.forEach((from, k) => out.copyWithin(3 * (this.count + k), 3 * from, 3 * from + 3));
    } else for (let k = 0; k < out.length; ++k) out[k] = colours[k % 3];
    this.tints.needsUpdate = true;
  }

  bounds(box) {
    const { Vector3 } = this.THREE;
    if (!this.count) return box;
    return box.expandByPoint(new Vector3(...this.box.slice(0, 3))).expandByPoint(new Vector3(...this.box.slice(3)));
  }

  outline() {
    const [low, size] = [this.box.slice(0, 3), [0, 1, 2].map((i) => this.box[3 + i] - this.box[i])];
    return Array.from({ length: this.count }, (_, k) => low.map((from, i) => from + (this.values[4 * k + i] / 65535) * size[i]));
  }

  setWire(on) {
    if (this.solid) this.solid.material.wireframe = on;
  }

  // of a picture that has fewer pixels, whose points are so much smaller
  setScale(scale) {
    if (this.dots) this.dots.size = scale * this.size;
  }

  positions(renderer, numbers) {
    const out = new Float32Array(3 * numbers.length);
    numbers.forEach((point, k) => {
      for (let i = 0; i < 3; ++i)
        out[3 * k + i] = this.box[i] + (this.values[4 * point + i] / 65535) * (this.box[3 + i] - this.box[i]);
    });
    return out;
  }

  dispose() {
    this.gl.deleteBuffer(this.buffer);
    this.object.children.forEach((part) => part.geometry.dispose());
    this.materials.forEach((material) => material.dispose());
  }
}

// ---------------------------------------------------------------- the ground

// one plane with a grid and the shadows that fall on it
function makeGround(THREE, header, box, extent, light) {
  const normal = header.ground ? new THREE.Vector3(...header.ground.slice(0, 3)) : new THREE.Vector3(...header.up);
  const offset = header.ground ? header.ground[3] : box.min.dot(normal);
  const middle = box.getCenter(new THREE.Vector3());
  const foot = middle.clone().addScaledVector(normal, offset - middle.dot(normal));
  const spacing = niceStep(extent / 6), reach = 1.6 * extent;
  const turned = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
  const plane = new THREE.Mesh(new THREE.PlaneGeometry(2 * reach, 2 * reach), new THREE.ShaderMaterial({
    transparent: true, depthWrite: false, side: THREE.DoubleSide,
    uniforms: {
      ...light.uniforms, colour: { value: new THREE.Color(0x9aa3ad) }, spacing: { value: spacing }, reach: { value: reach },
    },
    vertexShader: `varying vec2 at; varying vec3 seen;
      void main() {
        vec4 place = modelViewMatrix * vec4(position, 1.0);
        at = position.xy;
        seen = place.xyz;
        gl_Position = projectionMatrix * place;
      }`,
    fragmentShader: `${SURFACE.light} varying vec2 at; uniform vec3 colour; uniform float spacing, reach;
      void main() {
        vec2 g = abs(fract(at / spacing - 0.5) - 0.5) / fwidth(at / spacing);
        float line = 1.0 - min(min(g.x, g.y), 1.0);
        line *= 0.7 * clamp(2.0 * (1.0 - length(at) / reach), 0.0, 1.0);
        float shade = gl_FrontFacing ? 0.6 * (1.0 - lit()) : 0.0, both = line + shade * (1.0 - line);
        gl_FragColor = vec4(colour, 1.0);
        #include <colorspace_fragment>
        gl_FragColor = vec4(gl_FragColor.rgb * line / max(both, 1e-6), both); // the grid over a black shadow
      }`,
  }));
  plane.quaternion.copy(turned);
  plane.onBeforeRender = light.shine;
  // it goes with what is looked at, by whole cells
  const under = (target) => {
    const way = target.clone().sub(foot), at = foot.clone().addScaledVector(normal, -1e-3 * extent);
    for (const axis of [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0)]) {
      axis.applyQuaternion(turned);
      at.addScaledVector(axis, spacing * Math.round(way.dot(axis) / spacing));
    }
    plane.position.copy(at);
  };
  return { plane, under };
}

// ---------------------------------------------------------------- small things

function cornersOf(box) {
  return [0, 1, 2, 3, 4, 5, 6, 7].map((k) => ["x", "y", "z"].map((axis, i) => ((k >> i) & 1 ? box.max : box.min)[axis]));
}

// how far along a way the camera sees all of some points, from a middle that is moved so that they fill the picture
function frameAll(THREE, outline, middle, way, up, camera) {
  const right = new THREE.Vector3().crossVectors(up, way).normalize();
  const above = new THREE.Vector3().crossVectors(way, right);
  const high = Math.tan((camera.fov * Math.PI) / 360), wide = high * camera.aspect;
  const point = new THREE.Vector3(), seen = outline.map(([x, y, z]) => {
    point.set(x, y, z).sub(middle);
    return [point.dot(right), point.dot(above), point.dot(way)];
  });
  let [across, along, far] = [0, 0, 0];
  for (let k = 0; k < 4; ++k) {
    far = seen.reduce((most, [x, y, near]) =>
      Math.max(most, near + Math.abs(x - across) / wide, near + Math.abs(y - along) / high), 0);
    const ends = (i, at) => seen.map((p) => (p[i] - at) / (1.12 * far - p[2])).reduce(([low, top], v) =>
      [Math.min(low, v), Math.max(top, v)], [Infinity, -Infinity]);
    if (!(far > 0)) break;
    const [left, to] = ends(0, across), [low, top] = ends(1, along);
    across += ((left + to) / 2) * far;
    along += ((low + top) / 2) * far;
  }
  middle.addScaledVector(right, across).addScaledVector(above, along);
  return 1.12 * far || 1;
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

// lowest and highest of points, [x, y, z] each
// of points of which a domain carries a share; those that others carry nearly alone may lie far outside of it
function boxOf(X, share) {
  const low = [0, 1, 2].map(() => Infinity), high = [0, 1, 2].map(() => -Infinity), all = !share.some((part) => part < 0 || part > SLIGHT);
  X.forEach((value, k) => {
    const part = share[Math.floor(k / 3)];
    if (!all && part >= 0 && part <= SLIGHT) return;
    low[k % 3] = Math.min(low[k % 3], value);
    high[k % 3] = Math.max(high[k % 3], value);
  });
  return [low, high];
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
  return Array.from(colours.length === 3 ? colours : colours.subarray(3 * d, 3 * d + 3), (byte) => LINEAR[byte]);
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
