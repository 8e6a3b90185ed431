// What the scripts of the JavaScript clients share: their arguments, and one line of output per check.

import { createRequire } from "node:module";

export const [address, key] = process.argv.slice(2);
export const page = "http://tea.test/green.html";

// A client that waits for ever has failed.
setTimeout(() => process.exit(1), 120_000).unref();

const require = createRequire(import.meta.url);

/** Says which version of which client is driven, and returns the package's description of itself. */
export function announce(name) {
  const description = require(`${name}/package.json`);
  console.log(`client ${name} ${description.version}`);
  return description;
}

/** Runs a check, which fails by throwing. */
export async function check(name, run) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`failed ${name}: ${String(error.message ?? error).replaceAll("\n", " ")}`);
  }
}
