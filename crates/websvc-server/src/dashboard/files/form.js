// A form out of the schemas of the service's own OpenAPI document: options, defaults and rules are said in one place.

import { choices, el, field } from "./dom.js";

/** Fields that name a client, and other spellings of fields. */
const LEFT_OUT = new Set(["origin", "integration"]);

/** Formats that may be chosen by their name alone, in the order of the manual. */
const FORMATS = ["markdown", "html", "rawHtml", "links", "images", "screenshot", "summary", "json", "branding", "product", "menu", "audio", "video"];

const kinds = (schema) => [schema.type ?? []].flat().filter((kind) => kind !== "null");

/** Returns the schema that a reference, alone or beside `null`, stands for. */
function resolved(schema, schemas) {
  const reference = schema.$ref ?? schema.anyOf?.find((one) => one.$ref)?.$ref;
  return reference ? { ...schemas[reference.split("/").pop()], ...schema, anyOf: undefined, $ref: undefined } : schema;
}

/** Returns the words of which one may be chosen, where a schema says which; they may stand before other forms of the same. */
function words(schema, schemas) {
  const whole = resolved(schema, schemas);
  if (typeof whole.const === "string") return [whole.const];
  if (whole.enum) return whole.enum.filter((value) => typeof value === "string");
  if (whole.oneOf) return whole.oneOf.every((one) => typeof one.const === "string") ? whole.oneOf.map((one) => one.const) : null;
  return whole.anyOf ? words(whole.anyOf[0], schemas) : null;
}

/** Returns an input for a property, and how its value is read: `undefined` is left out of the request. */
function control(schema, schemas) {
  const [kind] = kinds(schema);
  const known = kind === "array" ? words(schema.items ?? {}, schemas) : words(schema, schemas);
  if (known?.length && kind !== "array") {
    const input = el("select", {}, el("option", { value: "" }, schema.default === undefined || schema.default === null ? "default" : `default: ${schema.default}`), ...known.map((value) => el("option", { value }, value)));
    return { input, read: () => input.value || undefined };
  }
  if (kind === "boolean") {
    const input = el("input", { type: "checkbox" });
    input.checked = schema.default === true;
    return { input, read: () => (input.checked === (schema.default === true) ? undefined : input.checked) };
  }
  if (kind === "integer" || kind === "number") {
    const shown = schema.default === undefined ? "" : String(schema.default);
    const input = el("input", { type: "number", min: schema.minimum, max: schema.maximum, step: kind === "integer" ? 1 : "any", placeholder: shown });
    return { input, read: () => (input.value === "" ? undefined : Number(input.value)) };
  }
  if (kind === "string") {
    const input = el("input", { type: "text", maxlength: schema.maxLength, placeholder: schema.default ?? "", spellcheck: "false" });
    return { input, read: () => input.value || undefined };
  }
  if (kind === "array" && (known?.length || kinds(schema.items ?? {})[0] === "string")) {
    const input = el("textarea", { rows: 2, placeholder: known?.length ? `one in each line: ${known.join(", ")}` : "one in each line", spellcheck: "false" });
    return { input, read: () => { const lines = input.value.split("\n").map((line) => line.trim()).filter(Boolean); return lines.length ? lines : undefined; } };
  }
  const input = el("textarea", { rows: 2, placeholder: "JSON", spellcheck: "false" });
  return { input, read: () => {
    if (!input.value.trim()) return undefined;
    try { return JSON.parse(input.value); } catch (error) { throw new Error(error.message); }
  } };
}

/** Returns the fields of an object's schema, but for some, and how the object is read. */
function object(schema, schemas, without) {
  const readers = [];
  const fields = [];
  for (const [name, raw] of Object.entries(schema.properties)) {
    if (raw.deprecated || LEFT_OUT.has(name) || without.has(name)) continue;
    const { input, read } = control(resolved(raw, schemas), schemas);
    readers.push([name, read]);
    fields.push(field(name, input, raw.description));
  }
  const read = () => {
    const value = {};
    for (const [name, reader] of readers) {
      let given;
      try { given = reader(); } catch (error) { throw new Error(`${name} is not JSON: ${error.message}`); }
      if (given !== undefined) value[name] = given;
    }
    return value;
  };
  return { fields, read };
}

/** Returns the form of a search: its elements with a button, the input of the query, and how the request is read. */
export function searchForm(document_, send) {
  const schemas = document_.components.schemas;
  const query = el("input", { type: "search", required: true, dir: "auto", placeholder: "What are you looking for?", maxlength: schemas.SearchRequest.properties.query.maxLength, autocomplete: "off" });
  const limit = control(schemas.SearchRequest.properties.limit, schemas);
  const sources = choices("Sources", schemas.SourceKind.enum ?? ["web", "images", "news"], ["web"]);
  const formats = choices("Content of the results", FORMATS, []);
  const search = object(schemas.SearchRequest, schemas, new Set(["query", "limit", "sources", "scrapeOptions"]));
  const scrape = object(schemas.ScrapeOptions, schemas, new Set(["formats"]));
  const more = el("textarea", { rows: 2, placeholder: '[{ "type": "question", "question": "..." }]', spellcheck: "false" });
  const read = () => {
    const request = { query: query.value };
    const count = limit.read();
    if (count !== undefined) request.limit = count;
    const kinds_ = sources.read();
    if (kinds_.length && kinds_.join() !== "web") request.sources = kinds_;
    Object.assign(request, search.read());
    let wanted = formats.read();
    if (more.value.trim()) {
      try { wanted = wanted.concat(JSON.parse(more.value)); } catch (error) { throw new Error(`more formats are not JSON: ${error.message}`); }
    }
    const options = scrape.read();
    if (wanted.length) options.formats = wanted;
    if (Object.keys(options).length) request.scrapeOptions = options;
    return request;
  };
  const elements = [
    el("div", { class: "row" },
      Object.assign(field("Query", query), { className: "field grow" }),
      Object.assign(field("Limit", limit.input), { className: "field short" }),
      el("div", { class: "field short" }, send)),
    sources.group,
    formats.group,
    el("details", {}, el("summary", {}, "Options of the search"), el("div", { class: "grid" }, ...search.fields)),
    el("details", {}, el("summary", {}, "Options of the content"), el("div", { class: "grid" }, field("more formats", more, "Formats with options, as JSON."), ...scrape.fields)),
  ];
  return { elements, query, read };
}
