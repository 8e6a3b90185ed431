// The fields of one target of a monitor: pages, a site or searches.

import { el, field } from "./dom.js";
import { changeRules } from "./monitor_rules.js";

const KINDS = [["scrape", "Pages"], ["crawl", "Site"], ["search", "Search"]];
const WINDOWS = [["5m", "5 minutes"], ["15m", "15 minutes"], ["1h", "an hour"], ["6h", "6 hours"], ["24h", "a day"], ["7d", "a week"]];
const COMPARISONS = [["text", "the text"], ["data", "extracted data"], ["both", "the text and extracted data"], ["custom", "formats in the options below"]];

/** Returns the lines of a text that are not blank. */
export const linesOf = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** Returns an object without fields that are undefined or empty lists. */
const compact = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && !(Array.isArray(value) && !value.length)));

const select = (options, value) => {
  const input = el("select", {}, ...options.map(([key, text]) => el("option", { value: key }, text)));
  input.value = value;
  return input;
};
const lines = (values, attributes = {}) => el("textarea", { rows: 3, spellcheck: "false", placeholder: "one per line", value: (values ?? []).join("\n"), ...attributes });

/** An error of a text that is not the JSON object that an input needs. */
export class InputError extends Error {
  constructor(input, message) {
    super(message);
    this.input = input;
  }
}

/** Returns the object in a field. */
function readObject(input) {
  if (!input.value.trim()) return undefined;
  let value;
  try { value = JSON.parse(input.value); } catch (error) { throw new InputError(input, `This is not valid JSON: ${error.message}`); }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new InputError(input, 'This must be a JSON object, such as {"mobile": true}');
  return value;
}

/** Returns the choice that stands for some formats, and the format with a prompt and a schema. */
function comparisonOf(formats) {
  const others = (formats ?? []).filter((format) => (format.type ?? format) !== "markdown").map((format) => (typeof format === "string" ? { type: format } : format));
  const only = (format, names) => Object.keys(format).every((name) => ["type", ...names].includes(name));
  const json = others.find((format) => format.type === "json" && only(format, ["prompt", "schema"]));
  const diff = others.find((format) => format.type === "changeTracking" && only(format, ["modes"]) && format.modes?.join() === "git-diff");
  if (!others.length) return { choice: "text" };
  if (json && others.length === 1) return { choice: "data", json };
  if (json && diff && others.length === 2) return { choice: "both", json };
  return { choice: "custom" };
}

/** Returns the fields of scrape options, and a function that reads the options. */
function scrapeFields(options = {}) {
  const { formats, includeTags, ...others } = options;
  const { choice, json } = comparisonOf(formats);
  const comparison = select(COMPARISONS, choice);
  const prompt = el("textarea", { rows: 2, value: json?.prompt ?? "", placeholder: "The price, and whether the product is in stock" });
  const schema = el("textarea", { rows: 2, spellcheck: "false", value: json?.schema ? JSON.stringify(json.schema, null, 2) : "", placeholder: '{ "type": "object", "properties": { "price": { "type": "number" } } }' });
  const tags = lines(includeTags, { rows: 2, placeholder: ".price" });
  const rest = choice === "custom" ? { formats, ...others } : others;
  const more = el("textarea", { rows: 2, spellcheck: "false", value: Object.keys(rest).length ? JSON.stringify(rest, null, 2) : "", placeholder: '{ "mobile": true, "waitFor": 500 }' });
  const data = el("div", { class: "row" }, field("Data to extract", prompt, "In words. Needs a language model at every check."), field("JSON Schema of the data", schema, "Optional if there is a description."));
  const update = () => { data.hidden = !["data", "both"].includes(comparison.value); };
  comparison.addEventListener("change", update);
  update();
  const details = el("details", { open: Boolean(more.value || tags.value) }, el("summary", {}, "Scrape options"), el("div", { class: "row" },
    field("Only these elements", tags, "CSS selectors, one per line. Everything else is not compared."),
    field("More options as JSON", more, "Those of `scrapeOptions`, see the API reference.")));
  const read = () => {
    const extra = readObject(more) ?? {};
    const ownFields = { includeTags: "Only these elements", ...(comparison.value === "custom" ? {} : { formats: "Compare" }) };
    for (const [name, label] of Object.entries(ownFields)) if (name in extra) throw new InputError(more, `Remove "${name}" here: the field "${label}" sets it`);
    const jsonFormat = () => compact({ type: "json", prompt: prompt.value.trim() || undefined, schema: readObject(schema) });
    const chosen = { text: () => undefined, data: () => [jsonFormat()], both: () => [jsonFormat(), { type: "changeTracking", modes: ["git-diff"] }], custom: () => extra.formats }[comparison.value]();
    const result = compact({ ...extra, formats: chosen, includeTags: linesOf(tags.value) });
    return Object.keys(result).length ? result : undefined;
  };
  const controls = [["/scrapeOptions/formats", comparison], ["/scrapeOptions/includeTags", tags], ["/scrapeOptions/schema", schema], ["/scrapeOptions", more]];
  return { element: el("div", {}, Object.assign(field("Compare", comparison, "The part of a page whose changes are reported."), { className: "field half" }), data, details), read, controls };
}

function pageFields(target, onChange) {
  const urls = lines(target.urls, { required: true, placeholder: "https://shop.example/tea" });
  const scrape = scrapeFields(target.scrapeOptions);
  const rules = changeRules(target, onChange);
  return {
    element: el("div", {}, field("URLs", urls, "One per line."), scrape.element, rules.element),
    read: () => compact({ urls: linesOf(urls.value), scrapeOptions: scrape.read(), ...rules.read() }),
    controls: () => [["/urls", urls], ...scrape.controls, ...rules.controls()],
  };
}

function siteFields(target, onChange) {
  const { limit, includePaths, excludePaths, ...others } = target.crawlOptions ?? {};
  const url = el("input", { type: "text", inputmode: "url", required: true, spellcheck: "false", value: target.url ?? "", placeholder: "https://project.example/releases/" });
  const max = el("input", { type: "number", min: 1, step: 1, value: limit ?? "", placeholder: "10000" });
  const [include, exclude] = [lines(includePaths, { rows: 2, placeholder: "^/releases/" }), lines(excludePaths, { rows: 2 })];
  const scrape = scrapeFields(target.scrapeOptions);
  const rules = changeRules(target, onChange);
  return {
    element: el("div", {}, el("div", { class: "row" }, field("Start URL", url), Object.assign(field("Pages at most", max), { className: "field short" })),
      el("div", { class: "row" }, field("Only paths that match", include, "Regular expressions, one per line."), field("No paths that match", exclude, "Regular expressions, one per line.")), scrape.element, rules.element),
    read: () => {
      const crawlOptions = compact({ ...others, limit: max.value === "" ? undefined : Number(max.value), includePaths: linesOf(include.value), excludePaths: linesOf(exclude.value) });
      return compact({ url: url.value.trim(), crawlOptions: Object.keys(crawlOptions).length ? crawlOptions : undefined, scrapeOptions: scrape.read(), ...rules.read() });
    },
    controls: () => [["/url", url], ["/crawlOptions/limit", max], ["/crawlOptions/includePaths", include], ["/crawlOptions/excludePaths", exclude], ...scrape.controls, ...rules.controls()],
  };
}

function searchFields(target) {
  const queries = lines(target.queries, { required: true, spellcheck: "true", placeholder: "tea harvest 2026" });
  const window = select(WINDOWS, target.searchWindow ?? "24h");
  const max = el("input", { type: "number", min: 1, step: 1, value: target.maxResults ?? "", placeholder: "10" });
  const [include, exclude] = [lines(target.includeDomains, { rows: 2 }), lines(target.excludeDomains, { rows: 2 })];
  return {
    element: el("div", {}, field("Queries", queries, "One per line. Each result that was not found before is reported; with a goal, only if it matters."),
      el("div", { class: "row" }, field("Age of the results at most", window), field("Results at most", max)),
      el("div", { class: "row" }, field("Only these domains", include, "One per line."), field("None of these domains", exclude, "One per line."))),
    read: () => compact({ queries: linesOf(queries.value), searchWindow: window.value, maxResults: max.value === "" ? undefined : Number(max.value), includeDomains: linesOf(include.value), excludeDomains: linesOf(exclude.value) }),
    controls: () => [["/queries", queries], ["/searchWindow", window], ["/maxResults", max], ["/includeDomains", include], ["/excludeDomains", exclude]],
  };
}

const FIELDS = { scrape: pageFields, crawl: siteFields, search: searchFields };

/**
 * Returns the fields of a target: their element, a function that reads the target, and their controls, each with its path in
 * the target.
 */
export function targetFields(target, onRemove, onChange) {
  const kind = select(KINDS, target.type);
  const body = el("div");
  let fields;
  const update = () => {
    // The fields of the type with which the monitor was stored are filled in.
    fields = FIELDS[kind.value](kind.value === target.type ? target : {}, onChange);
    body.replaceChildren(fields.element);
  };
  kind.addEventListener("change", () => { update(); onChange(); });
  update();
  const remove = el("button", { type: "button", class: "small", onclick: onRemove }, "Remove target");
  return {
    element: el("fieldset", { class: "target" }, el("legend", {}, "Target"), el("div", { class: "row" }, Object.assign(field("Watch", kind), { className: "field half" }), remove), body),
    remove,
    first: kind,
    // Without its ID, all pages of a target are new. One of another type has nothing to compare with.
    read: () => compact({ type: kind.value, id: kind.value === target.type ? target.id : undefined, ...fields.read() }),
    controls: () => [...fields.controls(), ["/type", kind]],
  };
}
