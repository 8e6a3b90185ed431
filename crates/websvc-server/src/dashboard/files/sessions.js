// The browser sessions of the team: their list, and the page of each.

import { request } from "./api.js";
import { badge, countText, el, formatCount, replaceContent, table } from "./dom.js";
import { refreshWhile } from "./live.js";
import { endButton, sessionPage, sessionPath } from "./session.js";
import { elapsedText, formatRelative } from "./monitor_text.js";

/** Shows the list, or the session that the rest of the path names. Returns a function that stops the refresh of the page. */
export function sessions(container, session, [id]) {
  return id ? sessionPage(container, id) : list(container);
}

async function list(container) {
  const content = el("div");
  let shown = null;
  const show = async () => {
    const response = await request("GET", "/dashboard/browser-sessions");
    // Twice a minute, so that the relative times stay right.
    const current = JSON.stringify([response.sessions, Math.floor(response.now / 30_000)]);
    if (current === shown) return;
    shown = current;
    const active = response.sessions.filter(({ status }) => status !== "destroyed").length;
    replaceContent(content, el("p", {}, `${countText(active, "session")} active`), sessionTable(response.sessions, show));
  };
  container.append(el("p", { class: "lead" }, "A browser session is a browser that a client of your team controls. Ended ones are listed for a day."), content);
  await show();
  return refreshWhile(() => true, show);
}

function sessionTable(rows, onChange) {
  return table("Browser sessions", ["Session", "Started", "Last use", "Ends", ["Credits so far", "number"], "Status", "Actions"], rows.map((row) => [
    el("a", { href: sessionPath(row.id), class: "name", "data-focus": `open ${row.id}` }, row.id.slice(-12)),
    formatRelative(row.createdAt),
    formatRelative(row.activeAt),
    row.status === "destroyed" ? row.destroyedAt ? `after ${elapsedText(row.createdAt, row.destroyedAt)}` : "with its process" : formatRelative(row.expiresAt),
    row.credits === null ? "-" : formatCount(row.credits),
    statusBadge(row.status),
    row.status === "active" ? el("div", { class: "actions" }, endButton(row, onChange)) : "",
  ]), "No sessions. Clients start them with POST /v2/browser, or with the code of a scrape.");
}

/** Returns the status of a session. */
export function statusBadge(status) {
  if (status === "active") return badge("good", "active");
  return status === "elsewhere" ? badge("busy", "active on another replica") : badge("plain", "ended");
}
