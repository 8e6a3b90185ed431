// The form that starts an agent run, or the next turn of a thread.

import { agentPath } from "./agent.js";
import { request } from "./api.js";
import { el, field, setNotice, showError } from "./dom.js";
import { showFieldError, showViolations } from "./monitor_form.js";
import { linesOf } from "./monitor_target.js";
import { setHeading } from "./monitor_text.js";

const SCHEMA_EXAMPLE = '{ "type": "object", "properties": { "price": { "type": "number" } }, "required": ["price"] }';

/** Shows the form of a run. With a thread, the run inherits what the form leaves empty. */
export function newAgent(container, threadId) {
  setHeading(container, threadId ? "Follow-up question" : "New run", [["Agents", "#/agents"]]);
  const prompt = el("textarea", { rows: 4, required: true, maxlength: 10_000, dir: "auto", placeholder: "What do the teas of this shop cost?" });
  const urls = el("textarea", { rows: 3, spellcheck: "false", placeholder: "one per line" });
  const strict = el("input", { type: "checkbox" });
  const schema = el("textarea", { rows: 6, spellcheck: "false", placeholder: SCHEMA_EXAMPLE });
  const credits = el("input", { type: "number", min: 1, max: 1_000_000, step: 1, placeholder: "2500" });
  const effort = el("select", {}, ...[["", "default: medium"], ["low", "low: 10 steps"], ["medium", "medium: 25 steps"], ["high", "high: 60 steps"]].map(([value, text]) => el("option", { value }, text)));
  const interact = el("input", { type: "checkbox" });
  const controls = [["/prompt", prompt], ["/urls", urls], ["/strictConstrainToURLs", strict], ["/schema", schema], ["/maxCredits", credits], ["/effort", effort], ["/allowInteract", interact]];
  const submit = el("button", { class: "main" }, "Start");
  const read = () => ({
    prompt: prompt.value,
    urls: linesOf(urls.value).length ? linesOf(urls.value) : undefined,
    strictConstrainToURLs: strict.checked || undefined,
    schema: readSchema(schema),
    maxCredits: credits.value === "" ? undefined : Number(credits.value),
    effort: effort.value || undefined,
    allowInteract: interact.checked || undefined,
    threadId: threadId || undefined,
    origin: "dashboard",
  });
  const form = el("form", { novalidate: true, onsubmit: (event) => { event.preventDefault(); start(read, controls, submit); } },
    el("section", { class: "card", "aria-label": "Task" }, field("Task", prompt, "Say in words which data you need. Name the fields."), field("Start pages", urls, threadId ? "Empty: those of the last turn." : "URLs that are read first. Empty: the run searches."), field("Read only these pages", strict, "No search, and no other page. The service enforces it.")),
    el("section", { class: "card", "aria-label": "Data" }, field("JSON Schema of the data", schema, threadId ? "Empty: that of the last turn." : "Empty: an object of any form.")),
    el("section", { class: "card", "aria-label": "Bounds" }, el("div", { class: "row pickers" }, field("Maximum of credits", credits), field("Effort", effort)),
      field("Act on pages in a browser", interact, "Lets the run click, type and submit. Without it, the run only reads.")),
    el("div", { class: "buttons" }, submit, el("a", { class: "button", href: "#/agents" }, "Cancel")));
  container.append(form);
  prompt.focus();
}

/** Returns the schema, or throws an error that names the input. */
function readSchema(input) {
  if (!input.value.trim()) return undefined;
  try {
    const schema = JSON.parse(input.value);
    if (schema !== null && typeof schema === "object" && !Array.isArray(schema)) return schema;
  } catch (error) {
    throw new SchemaError(input, `This is not valid JSON: ${error.message}`);
  }
  throw new SchemaError(input, "This must be a JSON object");
}

/** An error of the text of a schema. */
class SchemaError extends Error {
  constructor(input, message) {
    super(message);
    this.input = input;
  }
}

/** Sends the form, and opens the page of the run. */
async function start(read, controls, submit) {
  for (const [, input] of controls) showFieldError(input, "");
  submit.disabled = true;
  try {
    const { id, warning } = await request("POST", "/v2/agent", read());
    setNotice(`The run was started${warning ? `. Warning: ${warning}` : ""}`);
    location.hash = agentPath(id);
  } catch (error) {
    const violations = error.body?.details ?? (error instanceof SchemaError ? [{ path: "/schema", message: error.message }] : []);
    const unassigned = showViolations(violations, controls);
    showError(violations.length && !unassigned.length ? "The run was not started: see the fields below" : error.message);
  }
  submit.disabled = false;
}
