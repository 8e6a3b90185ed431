// The answer to a search, as cards.

import { ask } from "./api.js";
import { copier, el, facts, link, table } from "./dom.js";

/** Returns a text in which the words of the query are marked. */
function marked(text, words) {
  if (!words.length) return [text];
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return text.split(pattern).map((part, at) => (at % 2 ? el("mark", {}, part) : part));
}

/** Returns the words of a query, without its operators. */
export const wordsOf = (query) =>
  [...new Set(query.replace(/(^|\s)-\S+/g, " ").replace(/\S+:\S+/g, " ").match(/[\p{L}\p{N}]{2,}/gu) ?? [])].slice(0, 20);

/** Returns a part that is opened when it is wanted; what is in it is made then. */
function opened(title, make) {
  const details = el("details", {}, el("summary", {}, title));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.childElementCount > 1) return;
    const place = el("div", {}, el("p", { class: "busy" }, "..."));
    details.append(place);
    try { place.replaceChildren(await make()); } catch (error) { place.replaceChildren(el("p", { class: "bad" }, error.message)); }
  });
  return details;
}

/** Returns markdown as the service renders it for this page: without scripts, forms, pictures and anything else but text. */
async function rendered(markdown) {
  const { html } = await ask("POST", "/dashboard/render", { markdown });
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const anchor of parsed.querySelectorAll("a")) { anchor.rel = "noopener noreferrer"; anchor.target = "_blank"; }
  return el("div", { class: "rendered", tabindex: "0", role: "region", "aria-label": "Rendered markdown" }, ...parsed.body.childNodes);
}

const code = (text) => el("pre", { tabindex: "0" }, text);

/** Returns the parts of a result that its formats gave. */
function content(result) {
  const parts = [];
  const { markdown, html, rawHtml, links, images, screenshot, actions, metadata, ...others } = result;
  if (markdown) {
    parts.push(opened("Content", () => rendered(markdown)));
    parts.push(opened("Markdown", () => el("div", {}, copier(() => markdown, "markdown"), code(markdown))));
  }
  if (html) parts.push(opened("HTML", () => code(html)));
  if (rawHtml) parts.push(opened("Raw HTML", () => code(rawHtml)));
  if (links) parts.push(opened(`Links (${links.length})`, () => el("ul", {}, ...links.map((address) => el("li", {}, link(address))))));
  if (images && Array.isArray(images)) parts.push(opened(`Images (${images.length})`, () => el("ul", {}, ...images.map((address) => el("li", {}, link(address))))));
  if (screenshot) parts.push(opened("Screenshot", () => picture(screenshot, `Screenshot of ${result.url}`)));
  for (const [name, value] of Object.entries(others)) {
    if (!["url", "title", "description", "snippet", "category", "date", "position", "imageUrl"].includes(name) && value !== null && value !== undefined) {
      parts.push(opened(name, () => code(typeof value === "string" ? value : JSON.stringify(value, null, 2))));
    }
  }
  if (actions) parts.push(opened("Results of the actions", () => done(actions)));
  if (metadata) parts.push(opened("Metadata", () => facts(Object.entries(metadata).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))));
  return parts;
}

const picture = (address, alt) => el("p", {}, el("img", { class: "shot", src: address, alt }), el("br"), link(address, "Open it"));

function done({ screenshots = [], scrapes = [], javascriptReturns = [], pdfs = [] }) {
  return el("div", {},
    ...screenshots.map((address, at) => picture(address, `Screenshot ${at + 1} of the actions`)),
    ...pdfs.map((address, at) => el("p", {}, link(address, `PDF ${at + 1}`))),
    ...scrapes.flatMap(({ url, html }) => [el("p", { class: "url" }, url), code(html)]),
    ...javascriptReturns.map((value) => code(JSON.stringify(value, null, 2))));
}

function card(result, words) {
  const title = result.title || result.url;
  const parts = [
    el("h3", {}, link(result.url, title)),
    el("p", { class: "url" }, result.url),
    el("p", {}, ...marked(result.description ?? result.snippet ?? "", words)),
  ];
  const said = [result.date, result.category].filter(Boolean).join(", ");
  if (said) parts.push(el("p", { class: "hint" }, said));
  if (result.metadata?.error) parts.push(el("p", { class: "bad" }, `Its content could not be got: ${result.metadata.error}`));
  return el("li", { class: "card result" }, ...parts, ...content(result));
}

/** Pictures are not loaded: they are elsewhere, and this page asks nobody else for anything. */
const image = (result) =>
  el("li", { class: "card result" }, el("h3", {}, link(result.imageUrl, result.title || result.imageUrl)),
    el("p", { class: "hint" }, result.imageWidth ? `${result.imageWidth} x ${result.imageHeight}` : "size unknown"), el("p", { class: "url" }, "on ", link(result.url)));

const list = (title, items, kind) => [el("h2", {}, `${title} (${items.length})`), items.length ? el("ol", { class: kind, "aria-label": title }, ...items) : el("p", {}, "Nothing was found.")];

/** Returns the answer as elements. */
export function results(answer, query) {
  const words = wordsOf(query);
  const { web, news, images } = answer.data;
  const parts = [];
  if (answer.warning) parts.push(el("p", { class: "card bad" }, answer.warning));
  if (web) parts.push(...list("Web", web.map((result) => card(result, words)), "plain"));
  if (news) parts.push(...list("News", news.map((result) => card(result, words)), "plain"));
  if (images) parts.push(...list("Images", images.map(image), "images"));
  return el("div", {}, ...parts);
}

/** Returns what refused a request, rule by rule. */
export function refused(body) {
  return table("What the request breaks", ["Where", "Rule", "Why"], (body.details ?? []).map(({ path, code: rule, message }) => [path || "/", rule, message]), "");
}
