// The feedback of clients: ratings of searches, scrapes, maps and uploaded files.

import { request } from "./api.js";
import { badge, boundedText, el, formatTime, link, table } from "./dom.js";

const KINDS = { good: "good", partial: "warn", bad: "bad" };

/** Shows the page. */
export async function feedback(container) {
  const { feedback: rows } = await request("GET", "/dashboard/feedback?limit=100");
  container.append(
    el("p", { class: "lead" }, "Ratings that clients sent for their results. To use them as relevance judgments: ", el("code", {}, "websvc feedback export DIRECTORY"), "."),
    table("The last 100 ratings", ["Time", "Rating", "Endpoint", "Request", "Feedback", "Team", "Id"],
      rows.map((row) => [formatTime(row.at), badge(KINDS[row.rating] ?? "bad", row.rating), row.endpoint, row.target ?? "-", details(row.content ?? {}), row.team, el("code", { class: "id" }, row.id)]),
      "No feedback"));
}

/** Returns the parts of feedback. All of them are texts from outside. */
function details(content) {
  const codes = [...(content.issues ?? []), ...(content.tags ?? [])];
  const parts = [
    content.note ? el("p", {}, ...boundedText(content.note, 300)) : null,
    codes.length ? el("p", {}, codes.join(", ")) : null,
    list("Valuable sources", (content.valuableSources ?? []).map(({ url, reason }) => [link(url), reason ? `: ${reason}` : ""])),
    list("Missing content", (content.missingContent ?? []).map(({ topic, description }) => [topic, description ? `: ${description}` : ""])),
    content.querySuggestions ? el("p", {}, `Better queries: ${content.querySuggestions}`) : null,
    content.url ? el("p", {}, link(content.url)) : null,
    content.pageNumbers?.length ? el("p", {}, `Pages ${content.pageNumbers.join(", ")}`) : null,
    content.metadata ? list("Metadata", [[JSON.stringify(content.metadata)]]) : null,
  ];
  return el("div", {}, ...parts);
}

function list(title, items) {
  if (!items.length) return null;
  return el("details", {}, el("summary", {}, `${title}: ${items.length}`), el("ul", { class: "plain" }, ...items.map((item) => el("li", {}, ...item))));
}
