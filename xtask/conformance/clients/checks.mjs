// Shared code of the JavaScript check scripts: arguments and one line of output per check.

import { randomUUID } from "node:crypto";
import { utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export const [address, key] = process.argv.slice(2);
export const page = "http://tea.test/green.html";
/** Pages that are not in the index: the searches and maps of other checks must not find them. */
export const shop = "http://tea.test/shop.html";
export const menuPage = "http://tea.test/menu.html";
export const brochure = "http://tea.test/brochure.pdf";

/** Whether the service has a Chromium, and so browser sessions. */
export const hasSessions = process.env.WEBSVC_SESSIONS === "1";

// A client that hangs counts as failed.
setTimeout(() => process.exit(1), 180_000).unref();

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

/** The name of a profile that no other check uses. */
export const newProfile = () => `shop-${randomUUID()}`;

/** The last line of a text. */
export const lastLine = (text) => text.trim().split("\n").at(-1);

/** A page of the site that changes, on a host of its own, so that maps and searches of the other host do not find it. */
export class WatchedPage {
  #path;
  #modified = Date.now() / 1000 - 1000;

  constructor() {
    const name = `watched-${randomUUID()}.html`;
    this.url = `http://lamp.test/${name}`;
    this.#path = join(process.env.WEBSVC_SITE, name);
  }

  /** Writes the page. The server compares times of whole seconds, so each version is ten seconds newer. */
  write(price) {
    writeFileSync(this.#path, `<title>Lamp</title><main><h1>Lamp</h1><p>It costs ${price} euros.</p></main>`);
    this.#modified += 10;
    utimesSync(this.#path, this.#modified, this.#modified);
  }
}

/** Waits until a check of a monitor has ended. `get` requests the check. */
export async function waitForCheck(get) {
  for (;;) {
    const result = await get();
    if (!["queued", "running"].includes(result.status)) return result;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The lines of a diff that changed. */
export const changedLines = (diff) => diff.text.split("\n").filter((line) => /^[+-][^+-]/.test(line));
