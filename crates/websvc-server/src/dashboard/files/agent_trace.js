// The steps of an agent run in words.

import { boundedText, el } from "./dom.js";

/** Characters of a step that are shown at first. */
const STEP_CHARS = 300;

/** Returns an event as an item of a list; null for an event that tells people nothing. */
export function traceItem(event) {
  const [kind, name, text] = describe(event) ?? [];
  if (!kind) return null;
  return el("li", { class: kind },
    el("time", { datetime: event.occurredAt, class: "hint" }, new Date(event.occurredAt).toLocaleTimeString()),
    el("span", { dir: "auto" }, name ? el("strong", {}, `${name} `) : null, ...boundedText(text, STEP_CHARS)));
}

/** Returns the kind of a step, a name and a text. */
function describe({ type, message, text, toolName, parameters, result, artifact, outcome, error }) {
  switch (type) {
    case "run.cancel_requested": return ["step", "", "The run was cancelled"];
    case "run.finished": return ["step", "End", outcome.replaceAll("_", " ")];
    case "progress.reported": return ["step", "", message];
    case "reasoning.summary": return ["detail", "", text];
    case "tool_call.started": return ["step", toolName, parameterText(parameters)];
    case "tool_call.finished": return ["detail", "", result?.summary ?? ""];
    case "artifact.updated": return ["detail", artifact.artifactId, artifact.itemCount === undefined ? (artifact.changedFields ?? []).join(", ") : `${artifact.itemCount} found`];
    case "error.occurred": return ["step bad", "Error", error?.message ?? ""];
    case "browser.session.started": return ["detail", "", "A browser session has started"];
    case "browser.session.finished": return ["detail", "", "The browser session has ended"];
    default: return null;
  }
}

const parameterText = (parameters) => Object.values(parameters ?? {}).filter((value) => value !== "" && value !== null).map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" ");
