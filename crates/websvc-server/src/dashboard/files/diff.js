// Unified diffs of pages, inline and side by side. Only a part of a large diff is rendered at once.

import { boundedText, el, empty, formatCount } from "./dom.js";

/** Rows that are rendered at once. */
const ROWS = 400;

/** Characters of a line that are shown at first. */
const LINE_CHARS = 3000;

/** Maximum number of comparisons of words for a pair of lines. Beyond, all words between the first and the last change count as changed. */
const MAX_COMPARISONS = 100_000;

/** Minimum part of the shorter of two lines that is equal, so that marking the rest helps. */
const MIN_EQUAL_PART = 0.4;

/**
 * Returns the hunks of a unified diff. A hunk has a header and blocks: `context`, with the numbers of both versions, or
 * `change`, with the removed and the added lines.
 */
export function parseDiff(text) {
  const hunks = [];
  let [blocks, before, after] = [null, 0, 0];
  const block = (kind) => {
    if (blocks.at(-1)?.kind !== kind) blocks.push(kind === "context" ? { kind, lines: [] } : { kind, removed: [], added: [] });
    return blocks.at(-1);
  };
  for (const line of text.split("\n")) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (header) {
      [before, after] = [Number(header[1]), Number(header[2])];
      blocks = [];
      hunks.push({ header: header[0], blocks });
    } else if (!blocks) {
      continue;
    } else if (line.startsWith("+")) {
      block("change").added.push({ number: after++, text: line.slice(1) });
    } else if (line.startsWith("-")) {
      block("change").removed.push({ number: before++, text: line.slice(1) });
    } else if (line.startsWith(" ")) {
      block("context").lines.push({ before: before++, after: after++, text: line.slice(1) });
    }
  }
  return hunks;
}

/** Returns the words, blanks and signs of a line. */
const tokensOf = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];

/**
 * Returns the parts of two lines, each with its text and whether it changed; `null` if the lines have too little in common,
 * or are too long.
 */
export function compareWords(before, after) {
  if (before.length > LINE_CHARS || after.length > LINE_CHARS) return null;
  const [old, current] = [tokensOf(before), tokensOf(after)];
  let start = 0;
  while (start < old.length && start < current.length && old[start] === current[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < current.length - start && old.at(-1 - end) === current.at(-1 - end)) end += 1;
  const middle = (tokens) => tokens.slice(start, tokens.length - end);
  const equal = equalTokens(middle(old), middle(current));
  const parts = (tokens, flags) => joinParts(tokens.map((text, index) => ({ text, changed: index >= start && index < tokens.length - end && !flags[index - start] })));
  const [oldParts, currentParts] = [parts(old, equal.old), parts(current, equal.current)];
  const equalChars = oldParts.reduce((sum, part) => sum + (part.changed ? 0 : part.text.trim().length), 0);
  return equalChars < MIN_EQUAL_PART * Math.min(before.trim().length, after.trim().length) ? null : { before: oldParts, after: currentParts };
}

/** Returns for each token of two lists whether it is in their longest common subsequence. */
function equalTokens(old, current) {
  const flags = { old: old.map(() => false), current: current.map(() => false) };
  if (!old.length || !current.length || old.length * current.length > MAX_COMPARISONS) return flags;
  const width = current.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = current.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = old[i] === current[j] ? lengths[(i + 1) * width + j + 1] + 1 : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  for (let i = 0, j = 0; i < old.length && j < current.length;) {
    if (old[i] === current[j]) { flags.old[i] = true; flags.current[j] = true; i += 1; j += 1; }
    else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return flags;
}

/** Joins neighbors of the same kind. Blanks between two changed words count as changed. */
function joinParts(parts) {
  const joined = [];
  parts.forEach((part, index) => {
    const isBlank = !part.changed && !part.text.trim();
    const changed = part.changed || (isBlank && Boolean(parts[index - 1]?.changed) && Boolean(parts[index + 1]?.changed));
    if (joined.length && joined.at(-1).changed === changed) joined.at(-1).text += part.text;
    else joined.push({ text: part.text, changed });
  });
  return joined;
}

/** Returns the lines of a block of changes in pairs, whose words are compared when they are rendered. */
function pairs({ removed, added }) {
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => {
    const pair = { removed: removed[index], added: added[index], words: undefined };
    const words = () => { pair.words ??= pair.removed && pair.added ? compareWords(pair.removed.text, pair.added.text) ?? false : false; return pair.words; };
    return { ...pair, beforeParts: () => words()?.before, afterParts: () => words()?.after };
  });
}

/** Returns the content of a line with its changed words. */
function lineContent(text, parts, name) {
  if (!parts) return text ? boundedText(text, LINE_CHARS) : ["\u00a0"];
  return parts.map((part) => (part.changed ? el(name, {}, part.text) : part.text));
}

const numberCell = (number) => el("td", { class: "line" }, number === undefined ? "" : String(number));
const textCell = (kind, content) => el("td", { class: kind ? `text ${kind}` : "text", dir: "auto" }, ...content);
const signCell = (kind, sign) => el("td", { class: `sign ${kind}` }, sign);

/** Returns functions that create the rows of a view, in their order. */
function rowsOf(hunks, isSideBySide) {
  const rows = [];
  for (const { header, blocks } of hunks) {
    rows.push(() => el("tr", { class: "hunk" }, el("td", { colspan: 4 }, header)));
    for (const block of blocks) {
      if (block.kind === "context") rows.push(...block.lines.map((line) => () => contextRow(line, isSideBySide)));
      else if (isSideBySide) rows.push(...pairs(block).map((pair) => () => pairRow(pair)));
      else rows.push(...inlineRows(pairs(block)));
    }
  }
  return rows;
}

function contextRow({ before, after, text }, isSideBySide) {
  const content = () => lineContent(text);
  return isSideBySide
    ? el("tr", {}, numberCell(before), textCell("", content()), numberCell(after), textCell("", content()))
    : el("tr", {}, numberCell(before), numberCell(after), signCell("", ""), textCell("", content()));
}

function pairRow({ removed, added, beforeParts, afterParts }) {
  return el("tr", {},
    numberCell(removed?.number), removed ? textCell("removed", ["- ", ...lineContent(removed.text, beforeParts(), "del")]) : el("td", { class: "none" }),
    numberCell(added?.number), added ? textCell("added", ["+ ", ...lineContent(added.text, afterParts(), "ins")]) : el("td", { class: "none" }));
}

function inlineRows(all) {
  const removed = all.filter((pair) => pair.removed).map((pair) => () =>
    el("tr", {}, numberCell(pair.removed.number), numberCell(), signCell("removed", "-"), textCell("removed", lineContent(pair.removed.text, pair.beforeParts(), "del"))));
  const added = all.filter((pair) => pair.added).map((pair) => () =>
    el("tr", {}, numberCell(), numberCell(pair.added.number), signCell("added", "+"), textCell("added", lineContent(pair.added.text, pair.afterParts(), "ins"))));
  return [...removed, ...added];
}

/** Returns a view of a unified diff: its element, and a function that shows it inline or side by side. */
export function diffView(text, name) {
  const hunks = parseDiff(text);
  const element = el("div", { class: "diff-view" });
  const show = (isSideBySide) => {
    const rows = rowsOf(hunks, isSideBySide);
    if (!rows.length) { element.replaceChildren(empty("The diff has no lines")); return; }
    const columns = isSideBySide ? ["Line before", "Before", "Line after", "After"] : ["Line before", "Line after", "Sign", "Text"];
    const body = el("tbody");
    const more = el("button", { type: "button", class: "small" });
    let shown = 0;
    const showMore = () => {
      body.append(...rows.slice(shown, shown + ROWS).map((row) => row()));
      shown = Math.min(rows.length, shown + ROWS);
      const rest = rows.length - shown;
      if (rest) more.textContent = `Show ${formatCount(Math.min(rest, ROWS))} of ${formatCount(rest)} more lines`;
      else more.remove();
    };
    more.addEventListener("click", showMore);
    element.replaceChildren(
      el("table", { class: isSideBySide ? "diff side" : "diff" }, el("caption", { class: "unseen" }, `Changes of ${name}`),
        el("colgroup", {}, ...columns.map((column) => el("col", { class: column.replaceAll(" ", "-").toLowerCase() }))),
        el("thead", { class: "unseen" }, el("tr", {}, ...columns.map((column) => el("th", { scope: "col" }, column)))), body),
      more);
    showMore();
  };
  return { element, show };
}
