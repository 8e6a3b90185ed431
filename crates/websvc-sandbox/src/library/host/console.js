// The console of programs.

// Replaces %s, %d, %i, %f, %j, %o and %O in the first argument, and joins all with spaces.
function formatLine(values) {
  let at = 0;
  let text = '';
  if (typeof values[0] === 'string' && values.length > 1) {
    at = 1;
    text = values[0].replace(/%[sdifjoOc%]/g, pattern => {
      if (pattern === '%%') return '%';
      if (at >= values.length) return pattern;
      const value = values[at++];
      switch (pattern) {
        case '%s': return typeof value === 'string' ? value : inspect(value, MAX_DEPTH);
        case '%d': return typeof value === 'object' ? 'NaN' : inspectPrimitive(Number(value));
        case '%i': return String(parseInt(value, 10));
        case '%f': return String(parseFloat(value));
        case '%j': return JSON.stringify(value);
        case '%c': return '';
        default: return inspect(value);
      }
    });
  }
  const rest = values.slice(at).map(value => typeof value === 'string' ? value : inspect(value));
  return (at > 0 ? [text, ...rest] : rest).join(' ');
}

const consoleTimes = new Map();
const consoleCounts = new Map();
let consoleIndent = '';

function printLine(isError, text) {
  host.print(isError, `${consoleIndent}${consoleIndent ? text.replace(/\n/g, `\n${consoleIndent}`) : text}\n`);
}

const consoleObject = {
  log: (...values) => printLine(false, formatLine(values)),
  info: (...values) => printLine(false, formatLine(values)),
  debug: (...values) => printLine(false, formatLine(values)),
  error: (...values) => printLine(true, formatLine(values)),
  warn: (...values) => printLine(true, formatLine(values)),
  trace: (...values) => printLine(true, `Trace: ${formatLine(values)}`),
  dir: value => printLine(false, inspect(value)),
  table: value => printLine(false, inspect(value)),
  assert: (condition, ...values) => {
    if (!condition) printLine(true, values.length ? `Assertion failed: ${formatLine(values)}` : 'Assertion failed');
  },
  count: (label = 'default') => {
    consoleCounts.set(label, (consoleCounts.get(label) || 0) + 1);
    printLine(false, `${label}: ${consoleCounts.get(label)}`);
  },
  time: (label = 'default') => { consoleTimes.set(label, host.now()); },
  timeEnd: (label = 'default') => {
    if (consoleTimes.has(label)) printLine(false, `${label}: ${(host.now() - consoleTimes.get(label)).toFixed(3)}ms`);
    consoleTimes.delete(label);
  },
  group: (...values) => {
    if (values.length) printLine(false, formatLine(values));
    consoleIndent += '  ';
  },
  groupEnd: () => { consoleIndent = consoleIndent.slice(2); },
};
