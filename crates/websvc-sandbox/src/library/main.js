// The start and the end of a program.

let defaultTimeout = 30000;
let hasEnded = false;
const rejections = new Map();

// Thrown by `process.exit` to leave the program.
const EXIT = { exit: true };

function endProgram(exitCode, result, error) {
  if (hasEnded) return;
  hasEnded = true;
  const current = currentPage();
  releaseTargets();
  host.finish(toJson({ result, exitCode, error, targetId: current ? current._targetId : null }));
}

// Ends the program with an error that nothing caught.
function endWithError(error) {
  if (error === EXIT || hasEnded) return;
  // The engine throws null when there is no memory for an error.
  const message = error === null ? 'Uncaught null: the program threw null, or is out of memory'
    : error instanceof Error ? errorHead(error) : `Uncaught ${inspect(error)}`;
  host.print(true, `${error instanceof Error ? stackOf(error) : message}\n`);
  endProgram(1, null, message);
}

function currentPage() {
  const page = globalThis.page instanceof Page ? globalThis.page : firstPage;
  if (!page || !page.isClosed()) return page;
  return page.context().pages().at(-1) || null;
}

let firstPage = null;

// Detaches what this program has attached, so that sessions do not become more with each program.
function releaseTargets() {
  if (!firstPage || isClosed) return;
  for (const page of firstPage.context().pages()) {
    if (page === firstPage) page._session.send('Target.setAutoAttach', OFF).catch(ignore);
    else browserSession.send('Target.detachFromTarget', { sessionId: page._session.id }).catch(ignore);
  }
}
const OFF = { autoAttach: false, waitForDebuggerOnStart: false, flatten: true };

// Returns the value of the last expression as text: a string as it is, bytes as base64, another value as JSON.
function resultText(value) {
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  if (value instanceof Buffer) return value.toString('base64');
  if (value instanceof Emitter || value instanceof Locator || value instanceof FrameLocator) return inspect(value);
  try {
    return JSON.stringify(value) ?? inspect(value);
  } catch {
    return inspect(value);
  }
}

// Runs the text of a program. One with `return` becomes the body of a function.
function evaluateProgram(code) {
  try {
    return host.evaluate(code);
  } catch (error) {
    const message = String(error && error.message);
    if (/return not in a function/.test(message)) {
      return host.evaluate(`(async () => {${code}\n})()`);
    }
    if (error instanceof SyntaxError && /^\s*(import|export)\s/m.test(code)) {
      error.message += ' (a program cannot import modules; page, context and browser are there already)';
    }
    throw error;
  }
}

function installGlobals(page) {
  const process = {
    env: {}, argv: ['node', 'program.js'], platform: 'linux', version: 'v0', versions: {},
    exit: (code = 0) => { endProgram(Number(code) || 0, null, null); throw EXIT; },
    stdout: { write: text => { host.print(false, String(text)); return true; } },
    stderr: { write: text => { host.print(true, String(text)); return true; } },
    cwd: () => '/', uptime: () => host.now() / 1000, nextTick: (call, ...values) => queueMicrotask(() => call(...values)),
    hrtime: { bigint: () => BigInt(Math.round(host.now() * 1e6)) }, on: () => process,
  };
  const require = name => {
    throw new Error(`Cannot find module '${name}': a program cannot load modules; page, context and browser are there `
      + 'already');
  };
  const globals = {
    page, context: page.context(), browser: page.context().browser(), console: consoleObject, process, require,
    setTimeout: (call, ms, ...values) => addTimer(call, ms, values, false),
    setInterval: (call, ms, ...values) => addTimer(call, ms, values, true),
    setImmediate: (call, ...values) => addTimer(call, 0, values, false),
    clearTimeout: clearTimer, clearInterval: clearTimer, clearImmediate: clearTimer, atob, btoa, Buffer, URL,
    URLSearchParams, TextEncoder, TextDecoder, structuredClone: value => unpackValue(packValue(value)),
  };
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  }
}

async function runProgram({ language, code, targetId, sessionId }) {
  const browser = new Browser();
  const context = new BrowserContext(browser);
  browser._contexts.push(context);
  browserSession.send('Browser.getVersion').then(({ product }) => { browser._version = product.split('/')[1]; }, ignore);
  firstPage = await context._start(targetId, sessionId);
  installGlobals(firstPage);
  if (language === 'bash') {
    const exitCode = await runCommands(code);
    endProgram(exitCode, null, exitCode ? 'a command failed' : null);
    return;
  }
  const { value } = await evaluateProgram(code);
  endProgram(0, resultText(await value), null);
}

return {
  start(text) {
    const program = fromJson(text);
    // An operation ends before the program is killed, so that its error says what it waited for.
    defaultTimeout = Math.min(30000, Math.max(program.timeoutMs - 1000, program.timeoutMs * 0.8));
    runProgram(program).catch(endWithError);
  },
  message: receiveMessage,
  closed: closeConnection,
  // Returns the milliseconds until the next timer, or -1.
  tick() {
    for (const reason of rejections.values()) endWithError(reason);
    return runDueTimer();
  },
  rejection(promise, reason, isHandled) {
    if (isHandled) rejections.delete(promise);
    else if (reason !== EXIT) rejections.set(promise, reason);
  },
};
