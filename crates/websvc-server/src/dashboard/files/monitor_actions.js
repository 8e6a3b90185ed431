// The buttons that run, pause, resume, edit and delete a monitor.

import { request } from "./api.js";
import { confirmAction } from "./dialog.js";
import { el, showError, showStatus } from "./dom.js";
import { apiPath, monitorPath } from "./monitor_text.js";

/** Returns the buttons. `onChange` is called after a change, `onDelete` after the monitor was deleted. */
export function monitorActions(monitor, onChange, onDelete) {
  const { id, name } = monitor;
  const isPaused = monitor.status === "paused";
  const action = (text, key, message, run) => el("button", { type: "button", class: "small", "data-focus": `${key} ${id}`, "aria-label": `${text} ${name}`, onclick: async (event) => {
    if (event.currentTarget.hasAttribute("aria-busy")) return;
    event.currentTarget.setAttribute("aria-busy", "true");
    try {
      await run();
      await onChange();
      showStatus(message);
    } catch (error) {
      showError(error.message);
    }
    event.target.removeAttribute("aria-busy");
  } }, text);
  const setStatus = (status) => () => request("PATCH", apiPath(id), { status });
  return el("div", { class: "actions" },
    isPaused ? null : action("Run now", "run", `A check of ${name} was started`, () => request("POST", `${apiPath(id)}/run`)),
    // The same key: after pausing, the focus is on the button that resumes.
    isPaused ? action("Resume", "state", `${name} was resumed`, setStatus("active")) : action("Pause", "state", `${name} was paused`, setStatus("paused")),
    el("a", { class: "button small", href: monitorPath(id, "edit"), "aria-label": `Edit ${name}`, "data-focus": `edit ${id}` }, "Edit"),
    el("button", { type: "button", class: "danger small", "data-focus": `delete ${id}`, "aria-label": `Delete ${name}`, onclick: (event) => confirmAction(event.currentTarget, {
      title: `Delete the monitor ${name}?`,
      text: "Its checks with their changes are deleted, and a check in progress ends. This cannot be undone.",
      label: "Delete",
      onConfirm: async () => {
        await request("DELETE", apiPath(id));
        await onDelete();
        return `Monitor ${name} was deleted`;
      },
    }) }, "Delete"));
}
