// One agent run: its status, its data with their sources, and its steps while it works.

import { traceItem } from "./agent_trace.js";
import { request } from "./api.js";
import { confirmAction } from "./dialog.js";
import { badge, boundedText, codeBlock, copyButton, countText, el, empty, formatCount, formatTime, link, metrics, properties, replaceContent, showStatus, table } from "./dom.js";
import { refreshWhile } from "./live.js";
import { elapsedText, formatRelative, setHeading } from "./monitor_text.js";

/** Characters of data, of a task and of a passage that are shown at first. */
const [DATA_CHARS, TASK_CHARS, PASSAGE_CHARS] = [20_000, 1000, 300];

/** Characters of a task in a heading. */
const HEADING_CHARS = 100;

/** Sources that are listed. */
const SHOWN_SOURCES = 200;

/** Returns the address of the page of a run. */
export const agentPath = (id) => `#/agents/${encodeURIComponent(id)}`;

const apiPath = (id) => `/v2/agent/${encodeURIComponent(id)}`;

/** Shows the page, and returns a function that stops its refresh. */
export async function agentPage(container, id) {
  const section = (name, kind) => el("section", { "aria-label": name, class: kind });
  const [overview, data, sources, task] = [el("div", { class: "compact" }), section("Data", "card"), section("Sources"), section("Task", "card")];
  const steps = el("ol", { class: "plain trace" });
  let [isWorking, shown, shownSteps, isCancelledHere] = [true, null, 0, false];
  const readSnapshot = snapshotReader(id);
  const show = async () => {
    const [run, { events }] = await Promise.all([request("GET", apiPath(id)), request("GET", `${apiPath(id)}/trace`)]);
    const wasWorking = isWorking && shown !== null;
    isWorking = run.status === "processing";
    if (wasWorking && !isWorking && !isCancelledHere) showStatus(`The run has ended: ${endText(run)}`);
    const current = JSON.stringify([run, events.length, isWorking ? Math.floor(Date.now() / 5000) : 0]);
    if (current === shown) return run;
    shown = current;
    replaceContent(overview, actions(run, onCancel), overviewMetrics(run, events), ...notes(run));
    const content = isWorking ? await readSnapshot(events, "data") : run.data ?? run.partial;
    replaceContent(data, ...dataView(run, content));
    replaceContent(sources, ...sourceView(await readSnapshot(events, "sources"), content));
    steps.append(...events.slice(shownSteps).map(traceItem).filter(Boolean));
    shownSteps = events.length;
    return run;
  };
  const onCancel = () => { isCancelledHere = true; return show(); };
  const run = await show();
  const { thread } = await request("GET", `/v2/agent/threads/${encodeURIComponent(run.threadId)}`);
  const { prompt } = thread.runs.find((other) => other.id === id) ?? { prompt: id };
  setHeading(container, prompt.length > HEADING_CHARS ? `${prompt.slice(0, HEADING_CHARS)}...` : prompt, [["Agents", "#/agents"]]);
  replaceContent(task, el("h2", {}, "Task"), taskView(thread, id, run));
  container.append(overview, data, sources, el("section", { class: "card", "aria-label": "Steps" }, el("h2", {}, "Steps"), el("div", { role: "log", "aria-label": "Steps of the run" }, steps)), task);
  return refreshWhile(() => isWorking, show);
}

/** Returns a function that reads the last content of an artifact. A content that was read is not read again. */
function snapshotReader(id) {
  const contents = new Map();
  return async (events, name) => {
    const last = events.findLast(({ type, artifact }) => type === "artifact.updated" && artifact.artifactId === name);
    if (!last) return undefined;
    const { snapshotId } = last.artifact;
    if (contents.get(name)?.snapshotId !== snapshotId) {
      const { snapshot } = await request("GET", `${apiPath(id)}/snapshots/${encodeURIComponent(snapshotId)}`);
      contents.set(name, { snapshotId, value: JSON.parse(snapshot) });
    }
    return contents.get(name).value;
  };
}

function actions(run, onCancel) {
  const followUp = el("a", { class: "button small", "data-focus": "follow", href: `#/agents/new/${encodeURIComponent(run.threadId)}` }, "Ask a follow-up question");
  return el("div", { class: "actions" }, run.status === "processing" ? cancelButton(run.id, onCancel) : followUp);
}

/** Returns a button that cancels a run after a confirmation. */
export function cancelButton(id, onCancel) {
  const name = id.slice(-12);
  return el("button", { type: "button", class: "danger small", "data-focus": `cancel ${id}`, "aria-label": `Cancel run ${name}`, onclick: (event) => confirmAction(event.currentTarget, {
    title: `Cancel the run ${name}?`,
    text: "It ends within seconds and costs nothing. What it has collected stays readable until the run is deleted.",
    label: "Cancel the run",
    dismiss: "Keep it running",
    onConfirm: async () => {
      await request("DELETE", apiPath(id));
      await onCancel();
      return `Run ${name} was cancelled`;
    },
  }) }, "Cancel");
}

function statusBadge({ status, stopReason }) {
  if (status === "processing") return badge("busy", "working");
  if (status === "completed") return badge("good", "completed");
  const kind = { cancelled: "plain", credit_limit_reached: "warn", step_limit_reached: "warn", token_limit_reached: "warn", timeout: "warn" }[stopReason] ?? "bad";
  return badge(kind, endText({ status, stopReason }));
}

const endText = ({ status, stopReason }) => (status === "completed" ? status : (stopReason ?? "failed").replaceAll("_", " "));

function overviewMetrics(run, events) {
  const calls = events.filter(({ type }) => type === "tool_call.started").length;
  const [first, last] = [events[0]?.occurredAt, events.at(-1)?.occurredAt];
  const isWorking = run.status === "processing";
  return metrics([
    ["Status", statusBadge(run)],
    ["Started", first ? formatRelative(first) : "not yet", first ? formatTime(first) : "it waits for other runs"],
    ["Duration", first ? elapsedText(first, isWorking ? Date.now() : last) : "-", isWorking ? "so far" : null],
    ["Calls of tools", formatCount(calls)],
    ["Credits", run.creditsUsed === undefined ? "-" : formatCount(run.creditsUsed), run.creditsUsed === undefined ? "charged at the end" : null],
    ["Deleted", isWorking ? "-" : formatRelative(run.expiresAt), isWorking ? "some time after its end" : formatTime(run.expiresAt)],
  ]);
}

/** Returns the texts of the run for people. */
function notes({ error, message, warning }) {
  return [["Reason", error], ["Message", message], ["Warning", warning]].filter(([, text]) => text).map(([name, text]) =>
    el("div", { class: "card note" }, el("strong", {}, `${name}: `), el("span", { dir: "auto" }, ...boundedText(text, TASK_CHARS))));
}

function dataView(run, content) {
  const heading = el("h2", {}, run.status === "completed" ? "Data" : run.status === "processing" ? "Data so far" : "Collected before the end");
  if (content === undefined) return [heading, empty(run.status === "processing" ? "Nothing is collected yet." : "The run has no data.")];
  const text = JSON.stringify(content, null, 2);
  const isPartial = run.status === "failed";
  const hint = isPartial ? el("p", { class: "hint" }, `This is not a result: the run ended early.${run.partialSchemaValid === false ? " It does not follow the schema." : ""}`) : null;
  return [heading, hint, codeBlock("Data of the run", ...boundedText(text, DATA_CHARS)), el("div", { class: "actions" }, copyButton(() => text, "data"))];
}

function sourceView(sources, data) {
  if (!sources?.length) return [];
  const rows = sources.slice(0, SHOWN_SOURCES).map(({ pointer, url, passage }) => [
    el("code", {}, pointer || "/"), valueText(data, pointer), link(url), el("span", {}, ...boundedText(passage, PASSAGE_CHARS))]);
  const rest = sources.length - SHOWN_SOURCES;
  return [table("Sources of the values", ["Field", "Value", "Page", "Passage"], rows, ""), rest > 0 ? el("p", {}, `and ${countText(rest, "more source")}`) : null];
}

/** Returns the value at a JSON Pointer as text. */
function valueText(data, pointer) {
  const keys = pointer.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
  const value = keys.reduce((parent, key) => (parent !== null && typeof parent === "object" && Object.hasOwn(parent, key) ? parent[key] : undefined), data);
  if (value === undefined) return "-";
  return el("span", {}, ...boundedText(typeof value === "string" ? value : JSON.stringify(value), PASSAGE_CHARS));
}

function taskView(thread, id, { effort, threadTurn }) {
  const turn = thread.runs.find((other) => other.id === id) ?? {};
  const others = thread.runs.filter((other) => other.id !== id);
  return properties([
    ["Prompt", turn.prompt ? el("span", {}, ...boundedText(turn.prompt, TASK_CHARS)) : undefined],
    ["Start pages", turn.urls?.length ? el("ul", { class: "plain targets" }, ...turn.urls.map((url) => el("li", { dir: "auto" }, link(url)))) : "none"],
    ["Schema", turn.schema ? el("details", {}, el("summary", {}, "JSON Schema"), codeBlock("JSON Schema", JSON.stringify(turn.schema, null, 2))) : "none: an object of any form"],
    ["Effort", effort ?? "medium"],
    ["Turn of its thread", formatCount(threadTurn)],
    ["Other turns", others.length ? el("ul", { class: "plain" }, ...others.map((other) => el("li", { dir: "auto" }, el("a", { href: agentPath(other.id) }, other.prompt.slice(0, HEADING_CHARS))))) : undefined],
    ["Id", el("code", {}, id)],
  ]);
}
