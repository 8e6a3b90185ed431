// Elements out of texts. Everything that comes from elsewhere becomes a text node, so that no markup of a page, a title
// or a name is ever read as such.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Returns an element; attributes that begin with `on` are listeners, children are nodes or texts. */
export const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

/** Returns an element of a drawing. */
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Returns a link that leads out of this page; anything but http(s) and our own paths stays a text. */
export function link(address, ...children) {
  const safe = /^(https?:\/\/|\/(?!\/)|data:(image\/(png|jpeg|webp)|application\/pdf)[;,])/i.test(address);
  const content = children.length ? children : [address];
  return safe ? el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, ...content) : el("span", {}, ...content);
}

let fields = 0;

/** Returns an input with its label and the hint that describes it. */
export function field(label, input, hint) {
  const id = `field-${++fields}`;
  input.id = id;
  const check = input.type === "checkbox";
  const parts = [el("label", { for: id }, label), input];
  if (check) parts.reverse();
  if (hint) {
    input.setAttribute("aria-describedby", `${id}-hint`);
    // Descriptions of the schemas write names between backticks.
    const texts = hint.split("`").map((text, at) => (at % 2 ? el("code", {}, text) : text));
    parts.push(el("p", { class: "hint", id: `${id}-hint` }, ...texts));
  }
  return el("div", { class: check ? "field check" : "field" }, ...parts);
}

/** Returns boxes of one question, and how the names of the chosen ones are read. */
export function choices(legend, names, chosen) {
  const boxes = names.map((name) => el("input", { type: "checkbox", value: name, checked: chosen.includes(name) }));
  const group = el("fieldset", { class: "chips" }, el("legend", {}, legend), ...boxes.map((box) => el("label", { class: "chip" }, box, ` ${box.value}`)));
  return { group, read: () => boxes.filter((box) => box.checked).map((box) => box.value) };
}

/** Returns a table; a column is a heading, or a heading and `number`. Cells are nodes or texts. On narrow screens each row is a
 * card, so the roles are said: browsers take them from how a table is laid out. */
export function table(caption, columns, rows, nothing) {
  if (!rows.length) return empty(nothing);
  const kinds = columns.map((column) => (Array.isArray(column) ? column : [column]));
  const head = kinds.map(([text, kind]) => el("th", { scope: "col", role: "columnheader", class: kind }, text));
  const body = rows.map((cells) => el("tr", { role: "row" }, ...cells.map((cell, at) =>
    el("td", { role: "cell", class: kinds[at][1], "data-label": kinds[at][0] }, el("div", { dir: "auto" }, cell ?? "")))));
  const whole = el("table", { role: "table" }, el("caption", {}, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)), el("tbody", { role: "rowgroup" }, ...body));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, whole);
}

/** Returns what is shown where there is nothing to show. */
export const empty = (...content) => el("p", { class: "empty" }, ...content);

/** Returns facts by name. */
export const facts = (pairs) =>
  el("dl", { class: "facts" }, ...pairs.filter(([, value]) => value !== undefined && value !== null).flatMap(([name, value]) => [el("dt", {}, name), el("dd", { dir: "auto" }, value)]));

/** Returns figures to be seen at a glance: name, value, and what is beside it. */
export const figures = (all) =>
  el("dl", { class: "figures" }, ...all.map(([name, value, beside]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("span", { class: "value" }, value), beside ? el("span", { class: "hint" }, beside) : null))));

/** Returns a state as a word in a colour. */
export const badge = (kind, text) => el("span", { class: `badge ${kind}` }, text);

/** Says something that does not hinder. */
export function say(text) {
  document.getElementById("alert").textContent = "";
  document.getElementById("status").textContent = text;
}

/** Says what went wrong. */
export function complain(text) {
  document.getElementById("status").textContent = "";
  document.getElementById("alert").textContent = text;
}

export const time = (value) => (value ? new Date(value).toLocaleString() : "never");

export const count = (value) => Number(value).toLocaleString();

/** Returns a span of time in words. */
export function span(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

export function bytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (count >= 1000 && at < units.length - 1) { count /= 1000; at += 1; }
  return `${at ? count.toFixed(1) : count} ${units[at]}`;
}

/** Returns a button that copies a text. */
export function copier(text, what) {
  return el("button", { type: "button", class: "small", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      say(`${what} copied`);
    } catch {
      complain(`${what} could not be copied: this browser allows it only over https or on localhost`);
    }
  } }, `Copy ${what}`);
}
