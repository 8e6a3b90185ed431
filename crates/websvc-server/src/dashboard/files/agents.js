// The agent runs of the team: their list, and the pages below it.

import { agentPage, agentPath, cancelButton } from "./agent.js";
import { newAgent } from "./agent_form.js";
import { request } from "./api.js";
import { badge, boundedText, countText, el, empty, pager, replaceContent, showError, table } from "./dom.js";
import { refreshWhile } from "./live.js";
import { formatRelative } from "./monitor_text.js";

/** Runs on a page of the list. */
const PAGE_SIZE = 20;

/** Characters of a task in the list. */
const TASK_CHARS = 200;

/** Shows the list, or the page that the rest of the path names. Returns a function that stops the refresh of the page. */
export function agents(container, session, [id, threadId]) {
  if (!id) return list(container);
  return id === "new" ? newAgent(container, threadId) : agentPage(container, id);
}

async function list(container) {
  const content = el("div");
  // The times before which the runs of each page were started, up to the one that is shown.
  let [times, isWorking, shown] = [[null], false, null];
  const show = async () => {
    const before = times.at(-1);
    const { agents: runs, next } = await request("GET", `/v2/agent${before === null ? "" : `?before=${before}`}`);
    isWorking = runs.some(({ status }) => status === "processing");
    // Twice a minute, so that the relative times stay right.
    const current = JSON.stringify([times, runs, Math.floor(Date.now() / 30_000)]);
    if (current === shown) return;
    shown = current;
    const offset = (times.length - 1) * PAGE_SIZE;
    const goTo = (to) => {
      times = to < offset ? times.slice(0, -1) : [...times, new URL(next, location.href).searchParams.get("before")];
      show().catch((error) => showError(error.message));
    };
    replaceContent(content, runTable(runs, show), pager(offset, PAGE_SIZE, Boolean(next), goTo, ["Newer runs", "Older runs"]));
  };
  container.append(
    el("p", { class: "lead" }, "In an agent run, a language model searches and reads pages until it has the data that you ask for."),
    el("p", {}, el("a", { class: "button main", href: "#/agents/new" }, "New run")), content);
  await show();
  return refreshWhile(() => isWorking, show);
}

function runTable(runs, onChange) {
  if (!runs.length) return empty("No runs. ", el("a", { href: "#/agents/new" }, "Start one"), ", for example for the prices of a shop. Runs are deleted some time after their end, a day if nothing else is configured.");
  return table("Agent runs", ["Task", "Started", "Start pages", "From", "Status", "Actions"], runs.map((run) => [
    el("a", { href: agentPath(run.id), class: "name", "data-focus": `open ${run.id}` }, cut(run.options.prompt)),
    formatRelative(run.createdAt),
    run.options.urls?.length ? run.options.urls.length === 1 ? boundedText(run.options.urls[0], TASK_CHARS) : countText(run.options.urls.length, "page") : "none",
    run.origin,
    listBadge(run.status),
    run.status === "processing" ? el("div", { class: "actions" }, cancelButton(run.id, onChange)) : "",
  ]), "");
}

const cut = (text) => (text.length > TASK_CHARS ? `${text.slice(0, TASK_CHARS)}...` : text);

/** Returns the status of a run in the list, which does not say why a run failed. */
function listBadge(status) {
  const kind = { processing: "busy", completed: "good", failed: "bad" }[status] ?? "plain";
  return badge(kind, status === "processing" ? "working" : status);
}
