// The results of a search, as cards.

import { request } from "./api.js";
import { codeBlock, copyButton, el, empty, link, properties, scrollable, table } from "./dom.js";
import { STOP_WORDS } from "./stop_words.js";

const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Returns a text with the words of the query marked, at the start of words. Scripts without spaces have no such starts. */
function markWords(text, words) {
  if (!words.length) return [text];
  const alternative = (word) => (UNSPACED.test(word) ? "" : "(?<![\\p{L}\\p{N}])") + word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(`(${words.map(alternative).join("|")})`, "giu");
  return text.split(pattern).map((part, index) => (index % 2 ? el("mark", {}, part) : part));
}

/** Returns the words of a query without its operators and stop words, also for languages that are written without spaces. */
export function queryWords(query) {
  const text = query.replace(/(^|\s)-\S+/g, " ").replace(/\S+:\S+/g, " ");
  const parts = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)].filter((part) => part.isWordLike).map((part) => part.segment);
  const isLongEnough = (word) => word.length > 1 || UNSPACED.test(word);
  const isStopWord = (word) => STOP_WORDS.has(word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase());
  const words = [...new Set(parts)].filter(isLongEnough).sort((a, b) => b.length - a.length);
  const others = words.filter((word) => !isStopWord(word));
  return (others.length ? others : words).slice(0, 20);
}

/** Returns a section whose content is created when it is opened. */
function lazySection(title, createContent, isOpen = false) {
  const details = el("details", {}, el("summary", {}, title));
  const show = async () => {
    if (!details.open || details.childElementCount > 1) return;
    const content = el("div", {}, el("p", { class: "busy" }, "Loading ..."));
    details.append(content);
    try { content.replaceChildren(await createContent()); } catch (error) { content.replaceChildren(el("p", { class: "bad" }, error.message)); }
  };
  details.addEventListener("toggle", show);
  details.open = isOpen;
  return details;
}

/** Returns markdown that the service has rendered without scripts, forms and images. */
async function renderMarkdown(markdown, url) {
  const { html } = await request("POST", "/dashboard/render", { markdown });
  const parsed = new DOMParser().parseFromString(html, "text/html");
  for (const anchor of parsed.querySelectorAll("a")) { anchor.rel = "noopener noreferrer"; anchor.target = "_blank"; }
  for (const block of parsed.querySelectorAll("p, li, h4, h5, h6, td, th, blockquote, pre")) block.dir = "auto";
  for (const block of parsed.querySelectorAll("pre")) for (const [name, value] of Object.entries(scrollable("Code"))) block.setAttribute(name, value);
  for (const part of parsed.querySelectorAll("table")) {
    const frame = el("div", { class: "scroll", ...scrollable("Table") });
    part.replaceWith(frame);
    frame.append(part);
  }
  return el("div", { class: "rendered", tabindex: "0", role: "region", "aria-label": `Content of ${url}` }, ...parsed.body.childNodes);
}

/** Returns a section for each requested format of a result. */
function contentSections(result) {
  const sections = [];
  const { markdown, html, rawHtml, links, images, screenshot, actions, metadata, ...others } = result;
  if (markdown) {
    sections.push(lazySection("Content", () => renderMarkdown(markdown, result.url)));
    sections.push(lazySection("Markdown", () => el("div", {}, copyButton(() => markdown, "markdown"), codeBlock("Markdown", markdown))));
  }
  if (html) sections.push(lazySection("HTML", () => codeBlock("HTML", html)));
  if (rawHtml) sections.push(lazySection("Raw HTML", () => codeBlock("Raw HTML", rawHtml)));
  if (links) sections.push(lazySection(`Links (${links.length})`, () => el("ul", {}, ...links.map((url) => el("li", {}, link(url))))));
  if (images && Array.isArray(images)) sections.push(lazySection(`Images (${images.length})`, () => el("ul", {}, ...images.map((url) => el("li", {}, link(url))))));
  if (screenshot) sections.push(lazySection("Screenshot", () => screenshotFigure(screenshot, `Screenshot of ${result.url}`), true));
  for (const [name, value] of Object.entries(others)) {
    if (!["url", "title", "description", "snippet", "category", "date", "position", "imageUrl"].includes(name) && value !== null && value !== undefined) {
      sections.push(lazySection(name, () => codeBlock(name, typeof value === "string" ? value : JSON.stringify(value, null, 2))));
    }
  }
  if (actions) sections.push(lazySection("Action results", () => actionResults(actions)));
  if (metadata) sections.push(lazySection("Metadata", () => properties(Object.entries(metadata).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]))));
  return sections;
}

/** Returns the URL of an artifact on the host of this page. The service may have another host name in its URLs. */
function localUrl(url) {
  const { pathname, search } = new URL(url, location.href);
  return pathname.startsWith("/artifacts/") ? pathname + search : url;
}

const screenshotFigure = (url, alt) => el("figure", {}, el("img", { class: "screenshot", src: localUrl(url), alt }), el("figcaption", {}, link(url, "Open full size")));

function actionResults({ screenshots = [], scrapes = [], javascriptReturns = [], pdfs = [] }) {
  return el("div", {},
    ...screenshots.map((url, index) => screenshotFigure(url, `Screenshot ${index + 1} of the actions`)),
    ...pdfs.map((url, index) => el("p", {}, link(url, `PDF ${index + 1}`))),
    ...scrapes.flatMap(({ url, html }) => [el("p", { class: "url" }, url), codeBlock(`HTML of ${url}`, html)]),
    ...javascriptReturns.map((value, index) => codeBlock(`Result ${index + 1} of JavaScript`, JSON.stringify(value, null, 2))));
}

function resultCard(result, words) {
  const title = result.title || result.url;
  const text = result.description ?? result.snippet ?? "";
  const note = [result.date, result.category].filter(Boolean).join(", ");
  const lang = result.metadata?.language;
  return el("li", { class: "card result" },
    el("p", { class: "url" }, el("bdi", {}, result.url), note ? el("span", { class: "hint" }, `  ${note}`) : null),
    el("h3", { dir: "auto", lang }, link(result.url, title)),
    text ? el("p", { dir: "auto", lang }, ...markWords(text, words)) : null,
    result.metadata?.error ? el("p", { class: "bad" }, `The page could not be scraped: ${result.metadata.error}`) : null,
    el("div", { class: "parts" }, ...contentSections(result)));
}

/** Returns an image result without loading the image, because this page loads nothing from other hosts. */
const imageCard = (result) =>
  el("li", { class: "card result" }, el("h3", { dir: "auto" }, link(result.imageUrl, result.title || result.imageUrl)),
    el("p", { class: "hint" }, result.imageWidth ? `${result.imageWidth} x ${result.imageHeight}` : "unknown size"), el("p", { class: "url" }, "on ", link(result.url)));

const resultList = (title, items, kind) => [el("h2", {}, `${title} (${items.length})`), items.length ? el("ol", { class: kind, "aria-label": title }, ...items) : empty("No results. Try other words, fewer operators or a longer period.")];

/** Returns the results of a search. */
export function results(response, query) {
  const words = queryWords(query);
  const { web, news, images } = response.data;
  const parts = [];
  if (response.warning) parts.push(el("p", { class: "card note", role: "note" }, response.warning));
  if (web) parts.push(...resultList("Web", web.map((result) => resultCard(result, words)), "plain"));
  if (news) parts.push(...resultList("News", news.map((result) => resultCard(result, words)), "plain"));
  if (images) parts.push(...resultList("Images", images.map(imageCard), "images"));
  return el("div", {}, ...parts);
}

/** Returns the validation errors of a request. */
export function validationErrors(body) {
  return el("div", { class: "card" }, table("Validation errors", ["Field", "Rule", "Message"], (body.details ?? []).map(({ path, code: rule, message }) => [el("code", {}, path || "/"), rule, message]), ""));
}
