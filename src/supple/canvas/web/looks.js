// Looks: what is drawn upon the canvas beside its shapes: colours of fields with a legend, the selected body, frames,
// the graph of domains, links, contacts and pulls.
//
//   const looks = createLooks({ THREE }, canvas, header, data, element);
//   looks.setColours("speed");      // materials, parts, domains, or the name of a field that looks bring
//   looks.show(message);            // an ArrayBuffer, as supple.studio.looks tells
//   looks.update();                 // after each frame
import { readerOf } from "./canvas.js";
import { createLegend, fieldColours, hasNone, partColour, written } from "./legend.js";
import { createMarks } from "./marks.js";

export const PLAIN = ["materials", "parts", "domains"];

export function createLooks({ THREE }, canvas, header, data, element) {
  const legend = createLegend(element);
  const marks = createMarks(THREE, canvas, header, readerOf(data));
  const bodies = header.shapes.filter((told) => told.kind === "body").map((told) => told.name);
  let colours = "materials";

  function paintPlain() {
    bodies.forEach((name, number) => {
      const shape = canvas.shapes[canvas.names.indexOf(name)], count = shape.domains || 1;
      if (colours === "materials") canvas.tint(name, "all", null);
      else if (colours === "domains" && count > 1)
        canvas.tint(name, "domain", Uint8Array.from({ length: count }, (_, d) => d).reduce(
          (out, _, d) => { out.set(partColour(d), 3 * d); return out; }, new Uint8Array(3 * count)));
      else canvas.tint(name, "all", partColour(number));
    });
    if (colours === "parts") legend.showParts("Parts", bodies.map((name, k) => [name, partColour(k)]));
    else if (colours === "domains") legend.showParts("Domains", [["one colour a domain", null]]);
    else legend.hide();
  }

  return {
    legend,
    marks,

    setColours(name) {
      const anew = name !== colours;
      colours = name;
      if (PLAIN.includes(name)) paintPlain();
      else if (anew) legend.wait(name);
    },

    // returns what the message tells beside what is drawn
    show(message) {
      const length = new DataView(message).getUint32(0, true);
      const told = JSON.parse(new TextDecoder().decode(new Uint8Array(message, 4, length)));
      const read = readerOf(message, 4 + length);
      if (told.tints && told.field === colours) {
        const values = told.tints.map((tint) => read(tint.values));
        told.tints.forEach(({ name, per }, k) => canvas.tint(name, per, fieldColours(values[k])));
        const without = values.filter(hasNone).length, notes = without ? [`grey: no ${told.field}`] : [];
        if (told.tints.some(({ per }, k) => per === "domain" && values[k].length > 1))
          notes.push("means of domains; select a body to see its points");
        if (without < values.length) legend.showScale(told.field, told.unit, told.highest, notes);
        else legend.showNone(told.field);
      }
      marks.show(told, read);
      if (told.contacts) legend.note(toldContacts(marks.contacts.count, told.contacts.highest));
      canvas.touch();
      return told;
    },

    select(name) { marks.select(name); canvas.touch(); },
    setMark(which, on) {
      marks.set(which, on);
      if (which === "contacts" && !on) legend.note("");
      canvas.touch();
    },
    setTheme(name) { legend.setTheme(name); marks.setTheme(name); },
    update() { marks.update(); },
    dispose() { legend.dispose(); marks.dispose(); },
  };
}

function toldContacts(count, highest) {
  if (count === 0) return "No contacts";
  return `${count} ${count === 1 ? "contact" : "contacts"}; longest arrow ${written(highest)} N`;
}
