// Lines of commands, parsed as a shell would, without its expansions.

// Characters that would need a shell.
const SHELL_ONLY = {
  '|': 'pipes', '>': 'redirections', '<': 'redirections', '`': 'command substitutions', '(': 'subshells',
  ')': 'subshells',
};

class SyntaxProblem extends Error {}

// Returns the commands of a text: `{ words, line, after }`, where `after` is `&&`, `||` or `;`: how it follows the one
// before it.
function parseCommands(text) {
  const commands = [];
  let words = [];
  let word = null;
  let after = ';';
  let line = 1;
  let start = 1;
  const endWord = () => {
    if (word !== null) words.push(word);
    word = null;
  };
  const endCommand = next => {
    endWord();
    if (words.length) commands.push({ words, line: start, after });
    else if (next !== ';') throw new SyntaxProblem(`line ${line}: ${next} has no command before it`);
    words = [];
    after = next;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (!words.length && word === null) start = line;
    if (c === '\n') {
      line++;
      // A command may continue on the line after && and ||.
      if (words.length || word !== null || after === ';') endCommand(';');
    } else if (c === ' ' || c === '\t' || c === '\r') endWord();
    else if (c === '#' && word === null) {
      while (i + 1 < text.length && text[i + 1] !== '\n') i++;
    } else if (c === '\\') {
      i++;
      if (text[i] === '\n') line++;
      else word = (word ?? '') + (text[i] ?? '');
    } else if (c === "'" || c === '"') {
      const found = readQuoted(text, i, c, line);
      word = (word ?? '') + found.value;
      line += found.lines;
      i = found.end;
    } else if (c === ';') endCommand(';');
    else if (c === '&' && text[i + 1] === '&') { endCommand('&&'); i++; }
    else if (c === '|' && text[i + 1] === '|') { endCommand('||'); i++; }
    else if (c === '&') throw new SyntaxProblem(`line ${line}: "&": background commands need a shell, which this is not`);
    else if (c === '$' && /[({A-Za-z_?]/.test(text[i + 1] || '')) {
      throw new SyntaxProblem(`line ${line}: "$": variables need a shell, which this is not; quote it as '$'`);
    } else if (word === null && Object.hasOwn(SHELL_ONLY, c)) {
      throw new SyntaxProblem(`line ${line}: "${c}": ${SHELL_ONLY[c]} need a shell, which this is not`);
    } else word = (word ?? '') + c;
  }
  if (after !== ';' && !words.length && word === null) throw new SyntaxProblem(`${after} has no command after it`);
  endCommand(';');
  return commands;
}

// Reads a text in quotes. Only in double quotes, a backslash escapes.
function readQuoted(text, start, mark, line) {
  let value = '';
  let lines = 0;
  for (let i = start + 1; i < text.length; i++) {
    const c = text[i];
    if (c === mark) return { value, end: i, lines };
    if (c === '\n') lines++;
    if (mark === '"' && c === '\\' && '"\\$`\n'.includes(text[i + 1])) {
      i++;
      if (text[i] !== '\n') value += text[i];
    } else if (mark === '"' && (c === '`' || (c === '$' && text[i + 1] === '('))) {
      throw new SyntaxProblem(`line ${line}: "${c}": command substitutions need a shell, which this is not`);
    } else value += c;
  }
  throw new SyntaxProblem(`line ${line}: ${mark} is not closed`);
}

// Separates the options of a command from its words. `spec` has the names of the options, with `true` for those that
// take a value.
function parseOptions(words, spec) {
  const options = {};
  const rest = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if (!/^-{1,2}[a-z]/i.test(word)) { rest.push(word); continue; }
    const name = word.replace(/^-+/, '');
    if (!Object.hasOwn(spec, name)) {
      const known = Object.keys(spec).map(key => (key.length === 1 ? `-${key}` : `--${key}`));
      throw new Error(`unknown option ${word}; ${known.length ? `options: ${known.join(', ')}` : 'there are none'}`);
    }
    const { key, value } = spec[name];
    if (value && i + 1 >= words.length) throw new Error(`option ${word} needs a value`);
    options[key] = value ? words[++i] : true;
  }
  return { options, rest };
}
