// The answer to a search, as cards.

import { ask } from "./api.js";
import { copier, el, empty, facts, link, table } from "./dom.js";

/** Returns a text in which the words of the query are marked. */
function marked(text, words) {
  if (!words.length) return [text];
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return text.split(pattern).map((part, at) => (at % 2 ? el("mark", {}, part) : part));
}

/** Returns the words of a query, without its operators; languages without spaces have words, too. */
export function wordsOf(query) {
  const text = query.replace(/(^|\s)-\S+/g, " ").replace(/\S+:\S+/g, " ");
  const parts = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)].filter((part) => part.isWordLike).map((part) => part.segment);
  const counts = (word) => word.length > 1 || /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(word);
  return [...new Set(parts)].filter(counts).sort((one, other) => other.length - one.length).slice(0, 20);
}

/** Returns a part that is opened when it is wanted; what is in it is made then. */
function opened(title, make, at_once = false) {
  const details = el("details", {}, el("summary", {}, title));
  const show = async () => {
    if (!details.open || details.childElementCount > 1) return;
    const place = el("div", {}, el("p", { class: "busy" }, "One moment ..."));
    details.append(place);
    try { place.replaceChildren(await make()); } catch (error) { place.replaceChildren(el("p", { class: "bad" }, error.message)); }
  };
  details.addEventListener("toggle", show);
  details.open = at_once;
  return details;
}

/** Returns markdown as the service renders it for this page: without scripts, forms, pictures and anything else but text. */
async function rendered(markdown, address) {
  const { html } = await ask("POST", "/dashboard/render", { markdown });
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const anchor of parsed.querySelectorAll("a")) { anchor.rel = "noopener noreferrer"; anchor.target = "_blank"; }
  for (const block of parsed.querySelectorAll("p, li, h4, h5, h6, td, th, blockquote, pre")) block.dir = "auto";
  return el("div", { class: "rendered", tabindex: "0", role: "region", "aria-label": `Content of ${address}` }, ...parsed.body.childNodes);
}

const code = (text) => el("pre", { tabindex: "0" }, text);

/** Returns the parts of a result that its formats gave. */
function content(result) {
  const parts = [];
  const { markdown, html, rawHtml, links, images, screenshot, actions, metadata, ...others } = result;
  if (markdown) {
    parts.push(opened("Content", () => rendered(markdown, result.url)));
    parts.push(opened("Markdown", () => el("div", {}, copier(() => markdown, "markdown"), code(markdown))));
  }
  if (html) parts.push(opened("HTML", () => code(html)));
  if (rawHtml) parts.push(opened("Raw HTML", () => code(rawHtml)));
  if (links) parts.push(opened(`Links (${links.length})`, () => el("ul", {}, ...links.map((address) => el("li", {}, link(address))))));
  if (images && Array.isArray(images)) parts.push(opened(`Images (${images.length})`, () => el("ul", {}, ...images.map((address) => el("li", {}, link(address))))));
  if (screenshot) parts.push(opened("Screenshot", () => picture(screenshot, `Screenshot of ${result.url}`), true));
  for (const [name, value] of Object.entries(others)) {
    if (!["url", "title", "description", "snippet", "category", "date", "position", "imageUrl"].includes(name) && value !== null && value !== undefined) {
      parts.push(opened(name, () => code(typeof value === "string" ? value : JSON.stringify(value, null, 2))));
    }
  }
  if (actions) parts.push(opened("Results of the actions", () => done(actions)));
  if (metadata) parts.push(opened("Metadata", () => facts(Object.entries(metadata).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))));
  return parts;
}

/** Returns where a file of the service is found from here: it names itself as callers do, who may have another name for it. */
function near(address) {
  const { pathname, search } = new URL(address, location.href);
  return pathname.startsWith("/artifacts/") ? pathname + search : address;
}

const picture = (address, alt) => el("figure", {}, el("img", { class: "shot", src: near(address), alt }), el("figcaption", {}, link(address, "Open it in full")));

function done({ screenshots = [], scrapes = [], javascriptReturns = [], pdfs = [] }) {
  return el("div", {},
    ...screenshots.map((address, at) => picture(address, `Screenshot ${at + 1} of the actions`)),
    ...pdfs.map((address, at) => el("p", {}, link(address, `PDF ${at + 1}`))),
    ...scrapes.flatMap(({ url, html }) => [el("p", { class: "url" }, url), code(html)]),
    ...javascriptReturns.map((value) => code(JSON.stringify(value, null, 2))));
}

function card(result, words) {
  const title = result.title || result.url;
  const text = result.description ?? result.snippet ?? "";
  const said = [result.date, result.category].filter(Boolean).join(", ");
  const lang = result.metadata?.language;
  return el("li", { class: "card result" },
    el("p", { class: "url" }, el("bdi", {}, result.url), said ? el("span", { class: "hint" }, `  ${said}`) : null),
    el("h3", { dir: "auto", lang }, link(result.url, title)),
    text ? el("p", { dir: "auto", lang }, ...marked(text, words)) : null,
    result.metadata?.error ? el("p", { class: "bad" }, `Its content could not be got: ${result.metadata.error}`) : null,
    el("div", { class: "parts" }, ...content(result)));
}

/** Pictures are not loaded: they are elsewhere, and this page asks nobody else for anything. */
const image = (result) =>
  el("li", { class: "card result" }, el("h3", { dir: "auto" }, link(result.imageUrl, result.title || result.imageUrl)),
    el("p", { class: "hint" }, result.imageWidth ? `${result.imageWidth} x ${result.imageHeight}` : "size unknown"), el("p", { class: "url" }, "on ", link(result.url)));

const list = (title, items, kind) => [el("h2", {}, `${title} (${items.length})`), items.length ? el("ol", { class: kind, "aria-label": title }, ...items) : empty("Nothing was found. Other words, fewer operators or a wider time may help.")];

/** Returns the answer as elements. */
export function results(answer, query) {
  const words = wordsOf(query);
  const { web, news, images } = answer.data;
  const parts = [];
  if (answer.warning) parts.push(el("p", { class: "card note", role: "note" }, answer.warning));
  if (web) parts.push(...list("Web", web.map((result) => card(result, words)), "plain"));
  if (news) parts.push(...list("News", news.map((result) => card(result, words)), "plain"));
  if (images) parts.push(...list("Images", images.map(image), "images"));
  return el("div", {}, ...parts);
}

/** Returns what refused a request, rule by rule. */
export function refused(body) {
  return el("div", { class: "card" }, table("What the request breaks", ["Where", "Rule", "Why"], (body.details ?? []).map(({ path, code: rule, message }) => [el("code", {}, path || "/"), rule, message]), ""));
}
