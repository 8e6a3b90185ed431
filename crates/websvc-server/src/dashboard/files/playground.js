// A search, with every option that the service documents.

import { ask } from "./api.js";
import { complain, copier, count, el, empty, say } from "./dom.js";
import { searchForm } from "./form.js";
import { refused, results } from "./results.js";
import { snippets } from "./snippets.js";

/** Shows the page. */
export async function playground(place, session) {
  const send = el("button", { class: "main" }, "Search");
  const form = searchForm(await ask("GET", "/openapi.json"), send);
  const answer = el("section", { "aria-label": "Answer" }, empty("Ask for something: what is found appears here, with its content where you tick a format, and the request as code."));
  const element = el("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    let request;
    try { request = form.read(); } catch (error) { complain(error.message); return; }
    send.disabled = true;
    say("Searching ...");
    answer.setAttribute("aria-busy", "true");
    answer.replaceChildren(waiting());
    const started = performance.now();
    try {
      const found = await ask("POST", "/v2/search", request);
      const ms = Math.round(performance.now() - started);
      const credits = found.creditsUsed ?? 0;
      say(`Done in ${count(ms)} ms for ${count(credits)} ${credits === 1 ? "credit" : "credits"}`);
      answer.replaceChildren(results(found, request.query), raw(found), code(request, session));
    } catch (error) {
      complain(error.message);
      answer.replaceChildren(error.body?.details ? refused(error.body) : el("p", { class: "card bad" }, error.message), code(request, session));
    } finally {
      send.disabled = false;
      answer.removeAttribute("aria-busy");
    }
  } }, ...form.elements);
  place.append(element, answer);
  form.query.focus();
}

const raw = (found) => {
  const text = JSON.stringify(found, null, 2);
  return el("details", {}, el("summary", {}, "Answer as JSON"), copier(() => text, "JSON"), el("pre", { tabindex: "0" }, text));
};

/** Returns the shape of what is to come. */
const waiting = () => el("div", { class: "busy", "aria-hidden": "true" }, ...Array.from({ length: 3 }, () => el("div", { class: "card ghost" }, el("span"), el("span"), el("span"))));

/** Returns the request in several languages. */
function code(request, session) {
  const all = snippets(request, location.origin, session.required);
  const parts = Object.entries(all).map(([language, text]) =>
    el("details", {}, el("summary", {}, language), " ", copier(() => text, `${language} code`), el("pre", { tabindex: "0" }, text)));
  parts[0].open = true;
  return el("section", { class: "card", "aria-label": "The same request elsewhere" }, el("h2", {}, "The same request elsewhere"), ...parts);
}
