// Runs the commands of a program one after another.

const PROGRAM_NAME = 'agent-browser';

// Runs one command. Returns whether it succeeded.
async function runCommand({ words, line }) {
  const [name, ...values] = words[0] === PROGRAM_NAME ? words.slice(1) : words;
  try {
    if (name === 'echo') {
      host.print(false, `${values.join(' ')}\n`);
      return true;
    }
    if (name === 'close' || name === 'connect') throw new Error(`${name}: the session opens and closes its browser`);
    if (name === undefined || !Object.hasOwn(VERBS, name)) {
      const known = Object.keys(VERBS);
      throw new Error(name === undefined ? `a command is missing: ${known.join(', ')}`
        : `unknown command "${name.slice(0, 60)}"; did you mean "${closestName(name, known)}"?`);
    }
    const isJson = values.includes('--json');
    const text = await VERBS[name](globalThis.page, values.filter(word => word !== '--json'));
    host.print(false, isJson ? `${JSON.stringify({ success: true, data: text })}\n` : text.endsWith('\n') ? text : `${text}\n`);
    return true;
  } catch (error) {
    host.print(true, `✗ line ${line}: ${errorMessage(error)}\n`);
    return false;
  }
}

function errorMessage(error) {
  return error instanceof Error ? error.message : inspect(error);
}

// Runs a program. Returns its exit code: that of its last command.
async function runCommands(code) {
  let commands;
  try {
    commands = parseCommands(code);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    host.print(true, `✗ ${error.message}\n`);
    return 2;
  }
  let succeeded = true;
  for (const command of commands) {
    const { after } = command;
    if ((after === '&&' && !succeeded) || (after === '||' && succeeded)) continue;
    succeeded = await runCommand(command);
  }
  return succeeded ? 0 : 1;
}
