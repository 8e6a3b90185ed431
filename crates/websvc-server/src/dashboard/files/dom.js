// Functions that create elements. Text from outside always becomes a text node, so that a page, a title or a name can
// never add markup.

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

/** Returns an element. Attributes that begin with `on` are event listeners; children are nodes or texts. */
export const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);

/** Returns an SVG element. */
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Returns a link that opens in a new tab. A URL that is neither http(s) nor a path of this service stays text. */
export function link(url, ...children) {
  const isSafe = /^(https?:\/\/|\/(?!\/)|data:(image\/(png|jpeg|webp)|application\/pdf)[;,])/i.test(url);
  const content = children.length ? children : [url];
  return isSafe ? el("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, ...content) : el("span", {}, ...content);
}

let fieldCount = 0;

/** Returns an input with its label and a hint. */
export function field(label, input, hint) {
  const id = `field-${++fieldCount}`;
  input.id = id;
  const isCheckbox = input.type === "checkbox";
  const parts = [el("label", { for: id }, label), input];
  if (isCheckbox) parts.reverse();
  if (hint) {
    input.setAttribute("aria-describedby", `${id}-hint`);
    // Descriptions in the OpenAPI document have names in backticks.
    const texts = hint.split("`").map((text, index) => (index % 2 ? el("code", {}, text) : text));
    parts.push(el("p", { class: "hint", id: `${id}-hint` }, ...texts));
  }
  return el("div", { class: isCheckbox ? "field check" : "field" }, ...parts);
}

/** Returns a group of checkboxes, a function that reads the names of the checked ones, and its controls by name. */
export function checkboxGroup(legend, names, checked) {
  const boxes = names.map((name) => el("input", { type: "checkbox", value: name, checked: checked.includes(name) }));
  const group = el("fieldset", { class: "chips" }, el("legend", {}, legend), ...boxes.map((box) => el("label", { class: "chip" }, box, ` ${box.value}`)));
  return { group, read: () => boxes.filter((box) => box.checked).map((box) => box.value), controls: boxes.map((box) => [box.value, box]) };
}

/**
 * Returns a table. A column is a heading, or a heading and `number`; cells are nodes or texts. Roles are explicit: on narrow
 * screens, where each row is a card, browsers would not infer them from the layout.
 */
export function table(caption, columns, rows, emptyText) {
  if (!rows.length) return empty(emptyText);
  const headings = columns.map((column) => (Array.isArray(column) ? column : [column]));
  const head = headings.map(([text, kind]) => el("th", { scope: "col", role: "columnheader", class: kind }, text));
  const body = rows.map((cells) => el("tr", { role: "row" }, ...cells.map((cell, index) =>
    el("td", { role: "cell", class: headings[index][1], "data-label": headings[index][0] }, el("div", { dir: "auto" }, cell ?? "")))));
  const element = el("table", { role: "table" }, el("caption", {}, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)), el("tbody", { role: "rowgroup" }, ...body));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, element);
}

/** Attributes of an element that may scroll: it gets the focus, so that the keyboard can scroll it, and has a name. */
export const scrollable = (name) => ({ tabindex: "0", role: "group", "aria-label": name });

/** Returns a block of code that may scroll. */
export const codeBlock = (name, ...content) => el("pre", { ...scrollable(name), dir: "auto" }, ...content);

/** Returns a placeholder for missing content. */
export const empty = (...content) => el("p", { class: "empty" }, ...content);

/** Returns a list of names and values; missing values are omitted. */
export const properties = (pairs) =>
  el("dl", { class: "properties" }, ...pairs.filter(([, value]) => value !== undefined && value !== null).flatMap(([name, value]) => [el("dt", {}, name), el("dd", { dir: "auto" }, value)]));

/** Returns large metrics, each with a name, a value and a note. */
export const metrics = (all) =>
  el("dl", { class: "metrics" }, ...all.map(([name, value, note]) => el("div", {}, el("dt", {}, name), el("dd", {}, el("span", { class: "value" }, value), note ? el("span", { class: "hint" }, note) : null))));

/** Returns a colored state. */
export const badge = (kind, text) => el("span", { class: `badge ${kind}` }, text);

/** Shows a status message. */
export function showStatus(text) {
  document.getElementById("alert").textContent = "";
  document.getElementById("status").textContent = text;
}

/** Shows an error message. */
export function showError(text) {
  document.getElementById("status").textContent = "";
  document.getElementById("alert").textContent = text;
}

let notice = "";

/** Sets the status message of the page that is opened next. */
export const setNotice = (text) => { notice = text; };

/** Returns the status message for a page that is opened now. */
export function takeNotice() {
  const text = notice;
  notice = "";
  return text;
}

/**
 * Replaces the content of an element. If a part with a `data-focus` has the keyboard focus, its successor with the same one
 * gets it.
 */
export function replaceContent(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  if (key) [...element.querySelectorAll("[data-focus]")].find((other) => other.dataset.focus === key)?.focus();
}

/** Returns buttons for the pages of a list; nothing if there is one page. */
export function pager(offset, size, hasMore, goTo, [previous, next]) {
  if (!offset && !hasMore) return null;
  return el("div", { class: "buttons" },
    offset ? el("button", { type: "button", "data-focus": "previous", onclick: () => goTo(Math.max(0, offset - size)) }, previous) : null,
    hasMore ? el("button", { type: "button", "data-focus": "next", onclick: () => goTo(offset + size) }, next) : null);
}

/** Returns a text that is cut off after `max` characters, with a button that shows the rest. */
export function boundedText(text, max) {
  if (text.length <= max) return [text];
  const more = el("button", { type: "button", class: "small", onclick: () => more.replaceWith(text.slice(max)) }, `Show all ${formatCount(text.length)} characters`);
  return [text.slice(0, max), " ", more];
}

export const formatTime = (value) => (value ? new Date(value).toLocaleString() : "never");

export const formatCount = (value) => Number(value).toLocaleString();

/** Returns a number with its noun. */
export const countText = (count, noun) => `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Returns a duration with its unit. */
export function formatDuration(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

/** Returns a size with its unit. */
export function formatBytes(count) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let index = 0;
  while (count >= 1000 && index < units.length - 1) { count /= 1000; index += 1; }
  return `${index ? count.toFixed(1) : count} ${units[index]}`;
}

/** Returns a button that copies a text. */
export function copyButton(text, name) {
  return el("button", { type: "button", class: "small", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text());
      showStatus(`${name} copied`);
    } catch {
      showError(`${name} could not be copied: this browser allows copying only over https or on localhost`);
    }
  } }, `Copy ${name}`);
}
