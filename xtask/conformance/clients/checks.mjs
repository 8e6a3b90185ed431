// Shared code of the JavaScript check scripts: arguments and one line of output per check.

import { createRequire } from "node:module";

export const [address, key] = process.argv.slice(2);
export const page = "http://tea.test/green.html";

// A client that hangs counts as failed.
setTimeout(() => process.exit(1), 120_000).unref();

const require = createRequire(import.meta.url);

/** Prints the name and version of the client under test and returns the contents of its package.json. */
export function announce(name) {
  const manifest = require(`${name}/package.json`);
  console.log(`client ${name} ${manifest.version}`);
  return manifest;
}

/** Runs a check, which throws if it fails, and prints the outcome. */
export async function check(name, run) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`failed ${name}: ${String(error.message ?? error).replaceAll("\n", " ")}`);
  }
}
