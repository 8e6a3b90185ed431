// Displays the OpenAPI document of the service that serves this page.
"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const applyScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyScheme);
applyScheme();

// The name of each operation is a link within the button that opens the operation. A control must not contain another one.
const plainNames = ({ React }) => ({
  wrapComponents: { DeepLink: () => ({ text }) => React.createElement("span", { className: "nostyle" }, text) },
});

// Controls to which Swagger UI gives no name.
const NAMES = {
  "#servers": "Server",
  ".examples-select-element": "Example",
  "textarea.body-param__text": "Request body",
  ".close-modal": "Close",
  ".copy-to-clipboard button": "Copy",
};

/** Gives names to controls, and the focus to code that may scroll, wherever Swagger UI adds them. */
function repair(reference) {
  const set = (selector, attributes) => {
    for (const element of reference.querySelectorAll(`${selector}:not([aria-label])`)) {
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    }
  };
  for (const [selector, name] of Object.entries(NAMES)) set(selector, { "aria-label": name });
  // Their text is another one than this name.
  for (const button of reference.querySelectorAll(".auth-btn-wrapper .authorize[aria-label]")) button.removeAttribute("aria-label");
  set("pre.microlight", { "aria-label": "Code", role: "group", tabindex: "0" });
}

const reference = document.getElementById("reference");
new MutationObserver(() => repair(reference)).observe(reference, { childList: true, subtree: true });

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#reference",
  plugins: [plainNames],
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 2,
  // Keys are not stored, and no remote validator is used.
  persistAuthorization: false,
  validatorUrl: null,
});
