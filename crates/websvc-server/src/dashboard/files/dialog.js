// A dialog that asks for a confirmation.

import { el, showError, showStatus } from "./dom.js";

/**
 * Asks whether to do something that cannot be undone. `onConfirm` does it and returns the status message; `dismiss` is the
 * label of the button that does not. The focus then returns to the element that opened the dialog, or to the page if that
 * is gone.
 */
export function confirmAction(opener, { title, text, label, dismiss = "Cancel", onConfirm }) {
  const onClose = () => { dialog.remove(); (opener.isConnected ? opener : document.getElementById("main")).focus(); };
  const dialog = el("dialog", { "aria-labelledby": "dialog-title", "aria-describedby": "dialog-text", onclose: onClose },
    el("h2", { id: "dialog-title" }, title),
    el("p", { id: "dialog-text" }, text),
    el("div", { class: "buttons" },
      el("button", { type: "button", onclick: () => dialog.close() }, dismiss),
      el("button", { type: "button", class: "danger", onclick: async () => {
        try {
          const message = await onConfirm();
          dialog.close();
          showStatus(message);
        } catch (error) {
          dialog.close();
          showError(error.message);
        }
      } }, label)));
  document.body.append(dialog);
  dialog.showModal();
}
