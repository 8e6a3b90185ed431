// The search form, created from the OpenAPI document of the service: options, defaults and limits are defined only there.

import { checkboxGroup, el, field } from "./dom.js";

/** Fields that identify a client, which the form omits. */
const OMITTED = new Set(["origin", "integration"]);

/** Formats that need no options, in the order of the manual. */
const FORMATS = ["markdown", "html", "rawHtml", "links", "images", "screenshot", "summary", "json", "branding", "product", "menu", "audio", "video"];

const typesOf = (schema) => [schema.type ?? []].flat().filter((type) => type !== "null");

/** Returns a schema with its reference replaced by the referenced schema. A reference may be an alternative to `null`. */
function resolve(schema, schemas) {
  const reference = schema.$ref ?? schema.anyOf?.find((alternative) => alternative.$ref)?.$ref;
  return reference ? { ...schemas[reference.split("/").pop()], ...schema, anyOf: undefined, $ref: undefined } : schema;
}

/** Returns the allowed words of a schema; `null` if it allows other values. Words may be the first of several alternatives. */
function allowedWords(schema, schemas) {
  const resolved = resolve(schema, schemas);
  if (typeof resolved.const === "string") return [resolved.const];
  if (resolved.enum) return resolved.enum.filter((value) => typeof value === "string");
  if (resolved.oneOf) return resolved.oneOf.every((alternative) => typeof alternative.const === "string") ? resolved.oneOf.map((alternative) => alternative.const) : null;
  return resolved.anyOf ? allowedWords(resolved.anyOf[0], schemas) : null;
}

/** Returns an input for a property, and a function that reads its value. `undefined` is omitted from the request. */
function control(schema, schemas) {
  const [type] = typesOf(schema);
  const words = type === "array" ? allowedWords(schema.items ?? {}, schemas) : allowedWords(schema, schemas);
  if (words?.length && type !== "array") {
    const input = el("select", {}, el("option", { value: "" }, schema.default === undefined || schema.default === null ? "default" : `default: ${schema.default}`), ...words.map((value) => el("option", { value }, value)));
    return { input, read: () => input.value || undefined };
  }
  if (type === "boolean") {
    const input = el("input", { type: "checkbox" });
    input.checked = schema.default === true;
    return { input, read: () => (input.checked === (schema.default === true) ? undefined : input.checked) };
  }
  if (type === "integer" || type === "number") {
    const placeholder = schema.default === undefined ? "" : String(schema.default);
    const input = el("input", { type: "number", min: schema.minimum, max: schema.maximum, step: type === "integer" ? 1 : "any", placeholder });
    return { input, read: () => (input.value === "" ? undefined : Number(input.value)) };
  }
  if (type === "string") {
    const input = el("input", { type: "text", maxlength: schema.maxLength, placeholder: schema.default ?? "", spellcheck: "false" });
    return { input, read: () => input.value || undefined };
  }
  if (type === "array" && (words?.length || typesOf(schema.items ?? {})[0] === "string")) {
    const input = el("textarea", { rows: 2, placeholder: words?.length ? `one per line: ${words.join(", ")}` : "one per line", spellcheck: "false" });
    return { input, read: () => { const lines = input.value.split("\n").map((line) => line.trim()).filter(Boolean); return lines.length ? lines : undefined; } };
  }
  const input = el("textarea", { rows: 2, placeholder: "JSON", spellcheck: "false" });
  return { input, read: () => {
    if (!input.value.trim()) return undefined;
    try { return JSON.parse(input.value); } catch (error) { throw new Error(error.message); }
  } };
}

const valueOf = (input) => (input.type === "checkbox" ? input.checked : input.value);

/** Returns functions that read and restore what the user has changed in controls, which are pairs of a name and an input. */
function formState(controls) {
  const initial = new Map(controls.map(([name, input]) => [name, valueOf(input)]));
  return {
    state: () => Object.fromEntries(controls.filter(([name, input]) => valueOf(input) !== initial.get(name)).map(([name, input]) => [name, valueOf(input)])),
    restore: (state) => {
      for (const [name, input] of controls) {
        const value = state[name];
        if (typeof value !== typeof initial.get(name)) continue;
        if (input.type === "checkbox") input.checked = value;
        else input.value = value;
        const details = input.closest("details");
        if (details) details.open = true;
      }
    },
  };
}

/** Returns the fields of an object schema without some of its properties, and a function that reads the object. */
function objectFields(schema, schemas, omitted) {
  const readers = [];
  const controls = [];
  const fields = [];
  for (const [name, property] of Object.entries(schema.properties)) {
    if (property.deprecated || OMITTED.has(name) || omitted.has(name)) continue;
    const { input, read } = control(resolve(property, schemas), schemas);
    readers.push([name, read]);
    controls.push([name, input]);
    fields.push(field(name, input, property.description));
  }
  const read = () => {
    const object = {};
    for (const [name, reader] of readers) {
      let value;
      try { value = reader(); } catch (error) { throw new Error(`${name} is not valid JSON: ${error.message}`); }
      if (value !== undefined) object[name] = value;
    }
    return object;
  };
  return { fields, controls, read };
}

/**
 * Returns the search form: its elements with a submit button, the query input, a function that reads the request, and functions
 * that read and restore the state of the controls.
 */
export function searchForm(openapi, submit) {
  const schemas = openapi.components.schemas;
  const query = el("input", { type: "search", required: true, dir: "auto", placeholder: "What are you looking for?", maxlength: schemas.SearchRequest.properties.query.maxLength, autocomplete: "off" });
  const limit = control(schemas.SearchRequest.properties.limit, schemas);
  const sources = checkboxGroup("Sources", schemas.SourceKind.enum ?? ["web", "images", "news"], ["web"]);
  const formats = checkboxGroup("Content of the results", FORMATS, []);
  const search = objectFields(schemas.SearchRequest, schemas, new Set(["query", "limit", "sources", "scrapeOptions"]));
  const scrape = objectFields(schemas.ScrapeOptions, schemas, new Set(["formats"]));
  const moreFormats = el("textarea", { rows: 2, placeholder: '[{ "type": "question", "question": "..." }]', spellcheck: "false" });
  const read = () => {
    const request = { query: query.value };
    const limitValue = limit.read();
    if (limitValue !== undefined) request.limit = limitValue;
    const kinds = sources.read();
    if (kinds.length && kinds.join() !== "web") request.sources = kinds;
    Object.assign(request, search.read());
    let requestedFormats = formats.read();
    if (moreFormats.value.trim()) {
      try { requestedFormats = requestedFormats.concat(JSON.parse(moreFormats.value)); } catch (error) { throw new Error(`more formats is not valid JSON: ${error.message}`); }
    }
    const options = scrape.read();
    if (requestedFormats.length) options.formats = requestedFormats;
    if (Object.keys(options).length) request.scrapeOptions = options;
    return request;
  };
  const elements = [
    el("div", { class: "row" },
      Object.assign(field("Query", query), { className: "field grow" }),
      Object.assign(field("Limit", limit.input), { className: "field short" }),
      el("div", { class: "field short" }, submit)),
    sources.group,
    formats.group,
    el("details", {}, el("summary", {}, "Search options"), el("div", { class: "grid" }, ...search.fields)),
    el("details", {}, el("summary", {}, "Scrape options"), el("div", { class: "grid" }, field("more formats", moreFormats, "Formats with options, as JSON."), ...scrape.fields)),
  ];
  const prefixed = (prefix, pairs) => pairs.map(([name, input]) => [`${prefix}.${name}`, input]);
  return { elements, query, read, ...formState([
    ["query", query], ["limit", limit.input], ["formats", moreFormats], ...prefixed("source", sources.controls), ...prefixed("format", formats.controls),
    ...prefixed("search", search.controls), ...prefixed("scrape", scrape.controls)]) };
}
