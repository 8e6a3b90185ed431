// The playground: a search with all documented options.

import { request as send } from "./api.js";
import { codeBlock, copyButton, countText, el, empty, formatCount, showError, showStatus } from "./dom.js";
import { searchForm } from "./form.js";
import { results, validationErrors } from "./results.js";
import { codeSamples } from "./snippets.js";

/** Shows the page. */
export async function playground(container, session, [state]) {
  const submit = el("button", { class: "main" }, "Search");
  const form = searchForm(await send("GET", "/openapi.json"), submit);
  form.restore(readState(state));
  const response = el("section", { "aria-label": "Response", tabindex: "-1" }, empty("Start a search to see its results here, with their content in the formats that you select, and code samples for the request."));
  const element = el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    let request;
    try { request = form.read(); } catch (error) { showError(error.message); return; }
    submit.disabled = true;
    showStatus("Searching ...");
    // The form survives a reload and a return to this page. Nothing is searched then, because a search has a price.
    history.replaceState(null, "", `#/playground/${encodeURIComponent(JSON.stringify(form.state()))}`);
    response.setAttribute("aria-busy", "true");
    response.replaceChildren(skeleton());
    reveal(response);
    const started = performance.now();
    try {
      const found = await send("POST", "/v2/search", request);
      const ms = Math.round(performance.now() - started);
      const credits = found.creditsUsed ?? 0;
      showStatus(`${countText(resultCount(found.data), "result")} in ${formatCount(ms)} ms, ${countText(credits, "credit")} charged`);
      response.replaceChildren(results(found, request.query), rawResponse(found), samples(request, session));
    } catch (error) {
      showError(error.message);
      response.replaceChildren(error.body?.details ? validationErrors(error.body) : el("p", { class: "card bad" }, error.message), samples(request, session));
    } finally {
      submit.disabled = false;
      response.removeAttribute("aria-busy");
    }
  } }, ...form.elements);
  container.append(element, response);
  form.query.focus();
}

/** Returns the state of the form in a URL; empty if there is none. */
function readState(text) {
  try { return JSON.parse(decodeURIComponent(text ?? "{}")) ?? {}; } catch { return {}; }
}

/** Moves the focus to a part of the page that is mostly below the window, as the results are on a phone. */
function reveal(part) {
  if (part.getBoundingClientRect().top < innerHeight * 0.7) return;
  part.focus({ preventScroll: true });
  part.scrollIntoView();
}

const resultCount = (data) => Object.values(data).reduce((count, list) => count + list.length, 0);

const rawResponse = (found) => {
  const text = JSON.stringify(found, null, 2);
  return el("details", {}, el("summary", {}, "Response as JSON"), copyButton(() => text, "JSON"), codeBlock("Response as JSON", text));
};

/** Returns a placeholder with the shape of the results. */
const skeleton = () => el("div", { class: "busy", "aria-hidden": "true" }, ...Array.from({ length: 3 }, () => el("div", { class: "card skeleton" }, el("span"), el("span"), el("span"))));

/** Returns code samples of the request in several languages. */
function samples(request, session) {
  const all = codeSamples(request, location.origin, session.required);
  const parts = Object.entries(all).map(([language, text]) =>
    el("details", {}, el("summary", {}, language), " ", copyButton(() => text, `${language} code`), codeBlock(`${language} code`, text)));
  parts[0].open = true;
  return el("section", { class: "card", "aria-label": "Code samples" }, el("h2", {}, "Code samples"), ...parts);
}
