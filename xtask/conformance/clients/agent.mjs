// The tasks of the JavaScript checks of agent runs and extractions, which the language model of `model.py` answers.

import { page } from "./checks.mjs";

/** Whether the service has a language model. */
export const hasModel = process.env.WEBSVC_MODEL === "1";

/** The price of a session of less than a minute. Prompts make it more expensive. */
export const sessionCredits = hasModel ? 7 : 2;

export const prompt = "How much sencha?";
export const schema = {
  type: "object",
  properties: { leaf: { type: "string" }, grams: { type: "integer" } },
  required: ["leaf", "grams"],
};
/** The data of the run. */
export const sencha = { leaf: "Sencha", grams: 4 };
/** Its price: two steps and a page. */
export const credits = 3;

/** A task that the model never answers. */
export const endless = "wait";

const tea = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
/** An extraction from two pages, and its data. */
export const extraction = {
  urls: [page, "http://tea.test/oolong.html"],
  prompt: "The teas",
  schema: { type: "object", properties: { teas: { type: "array", items: tea } }, required: ["teas"] },
};
export const teas = { teas: [{ name: "Green tea" }, { name: "Oolong" }] };

/** Waits until a run has ended. `get` requests its status. */
export async function waitForRun(get) {
  for (;;) {
    const run = await get();
    if (run.status !== "processing") return run;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
