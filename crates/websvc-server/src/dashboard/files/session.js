// One browser session: its live view, first without and then with mouse and keyboard, its times, and its end.

import { request } from "./api.js";
import { confirmAction } from "./dialog.js";
import { badge, countText, el, empty, formatCount, formatTime, link, metrics, properties, replaceContent, showStatus } from "./dom.js";
import { refreshWhile } from "./live.js";
import { elapsedText, formatRelative, setHeading } from "./monitor_text.js";

/** Returns the address of the page of a session. */
export const sessionPath = (id) => `#/sessions/${encodeURIComponent(id)}`;

/** Shows the page, and returns a function that stops its refresh. */
export async function sessionPage(container, id) {
  const [overview, view, details] = [el("div", { class: "compact" }), el("section", { "aria-label": "Live view" }), el("section", { class: "card", "aria-label": "Details" })];
  let [status, shown] = [null, null];
  const show = async () => {
    const { now, sessions } = await request("GET", "/dashboard/browser-sessions");
    const session = sessions.find((other) => other.id === id);
    if (!session) throw new Error("There is no such session, or it ended more than a day ago");
    const current = JSON.stringify([session, Math.floor(now / 30_000)]);
    if (current === shown) return;
    shown = current;
    replaceContent(overview, session.status === "active" ? el("div", { class: "actions" }, endButton(session, show)) : null, overviewMetrics(session));
    replaceContent(details, el("h2", {}, "Details"), detailList(session));
    // The frame stays, so that a refresh does not reconnect the live view.
    if (session.status !== status) showLiveView(view, session);
    ({ status } = session);
  };
  await show();
  setHeading(container, `Session ${id.slice(-12)}`, [["Sessions", "#/sessions"]]);
  container.append(overview, view, details);
  return refreshWhile(() => status !== "destroyed", show);
}

function overviewMetrics({ status, createdAt, activeAt, expiresAt, destroyedAt, credits }) {
  const state = status === "active" ? badge("good", "active") : status === "elsewhere" ? badge("busy", "active") : badge("plain", "ended");
  return metrics([
    ["Status", state, status === "elsewhere" ? "on another replica" : null],
    ["Started", formatRelative(createdAt), formatTime(createdAt)],
    ["Last use", formatRelative(activeAt), formatTime(activeAt)],
    status === "destroyed" ? ["Duration", destroyedAt ? elapsedText(createdAt, destroyedAt) : "unknown", destroyedAt ? `ended ${formatTime(destroyedAt)}` : "its process was lost"] : ["Ends", formatRelative(expiresAt), "at the latest; earlier without use"],
    ["Credits so far", credits === null ? "-" : formatCount(credits), credits === null ? null : "if it ended now"],
  ]);
}

function detailList({ id, scrape, createdAt, expiresAt }) {
  return properties([
    ["Id", el("code", {}, id)],
    ["Page of the scrape", scrape ? el("code", {}, scrape) : undefined],
    ["Started", formatTime(createdAt)],
    ["Ends at the latest", formatTime(expiresAt)],
  ]);
}

/** Shows the live view. It begins without mouse and keyboard, because they are use of the session. */
function showLiveView(view, { status, liveView }) {
  if (!liveView) {
    replaceContent(view, el("h2", {}, "Live view"), empty(status === "elsewhere" ? "The session runs on another replica, which shows it." : "The session has ended."));
    return;
  }
  const frame = el("iframe", { class: "frame", title: "Live view of the session", src: liveView.readOnly });
  const control = el("button", { type: "button", class: "main", "data-focus": "control", "aria-pressed": "false", onclick: () => {
    const isInteractive = control.getAttribute("aria-pressed") !== "true";
    control.setAttribute("aria-pressed", String(isInteractive));
    frame.src = isInteractive ? liveView.interactive : liveView.readOnly;
    open.href = frame.src;
    showStatus(isInteractive ? "You control the browser with mouse and keyboard" : "You only watch the browser");
  } }, "Use mouse and keyboard");
  const open = link(liveView.readOnly, "Open in a new tab");
  replaceContent(view, el("h2", {}, "Live view"), el("div", { class: "actions" }, control, open), frame);
}

/** Returns a button that ends a session after a confirmation. `onEnd` is called after the end. */
export function endButton({ id }, onEnd) {
  const name = id.slice(-12);
  return el("button", { type: "button", class: "danger small", "data-focus": `end ${id}`, "aria-label": `End ${name}`, onclick: (event) => confirmAction(event.currentTarget, {
    title: `End the session ${name}?`,
    text: "Its browser is closed, and its clients are disconnected. A profile that it may change is saved. This cannot be undone.",
    label: "End",
    onConfirm: async () => {
      const { sessionDurationMs, creditsBilled } = await request("DELETE", `/v2/browser/${encodeURIComponent(id)}`);
      await onEnd();
      const credits = creditsBilled === undefined ? "" : `, ${countText(creditsBilled, "credit")}`;
      return `Session ${name} was ended: ${Math.round(sessionDurationMs / 1000)} s${credits}`;
    },
  }) }, "End");
}
