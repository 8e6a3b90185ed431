// A search, with every option that the service documents.

import { ask } from "./api.js";
import { complain, copier, el, say } from "./dom.js";
import { searchForm } from "./form.js";
import { refused, results } from "./results.js";
import { snippets } from "./snippets.js";

/** Shows the page. */
export async function playground(place) {
  const form = searchForm(await ask("GET", "/openapi.json"));
  const answer = el("section", { "aria-label": "Answer" });
  const send = el("button", { class: "main" }, "Search");
  const element = el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    let request;
    try { request = form.read(); } catch (error) { complain(error.message); return; }
    send.disabled = true;
    say("Searching ...");
    const started = performance.now();
    try {
      const found = await ask("POST", "/v2/search", request);
      const ms = Math.round(performance.now() - started);
      say(`Done in ${ms} ms for ${found.creditsUsed} credits`);
      answer.replaceChildren(results(found, request.query), raw(found), code(request));
    } catch (error) {
      complain(error.message);
      answer.replaceChildren(...(error.body?.details ? [refused(error.body)] : []), code(request));
    } finally {
      send.disabled = false;
    }
  } }, ...form.elements, send);
  place.append(element, answer);
  form.query.focus();
}

const raw = (found) => {
  const text = JSON.stringify(found, null, 2);
  return el("details", {}, el("summary", {}, "Answer as JSON"), copier(() => text, "JSON"), el("pre", { tabindex: "0" }, text));
};

/** Returns the request in several languages. */
function code(request) {
  const all = snippets(request, location.origin);
  const parts = Object.entries(all).map(([language, text]) =>
    el("details", {}, el("summary", {}, language), copier(() => text, `${language} code`), el("pre", { tabindex: "0" }, text)));
  return el("section", { "aria-label": "The same request elsewhere" }, el("h2", {}, "The same request elsewhere"), ...parts);
}
