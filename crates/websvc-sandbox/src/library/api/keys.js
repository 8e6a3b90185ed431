// The keys of a keyboard with the US layout.

// Rows of a key: code, key, key with shift, number of the key.
const KEY_ROWS = [
  ['Backquote', '`', '~', 192], ['Minus', '-', '_', 189], ['Equal', '=', '+', 187], ['Backslash', '\\', '|', 220],
  ['BracketLeft', '[', '{', 219], ['BracketRight', ']', '}', 221], ['Semicolon', ';', ':', 186],
  ['Quote', "'", '"', 222], ['Comma', ',', '<', 188], ['Period', '.', '>', 190], ['Slash', '/', '?', 191],
  ['Space', ' ', ' ', 32], ...'1!2@3#4$5%6^7&8*9(0)'.match(/../g).map(pair =>
    [`Digit${pair[0]}`, pair[0], pair[1], pair.charCodeAt(0)]),
  ...Array.from('abcdefghijklmnopqrstuvwxyz', letter =>
    [`Key${letter.toUpperCase()}`, letter, letter.toUpperCase(), letter.toUpperCase().charCodeAt(0)]),
];

// Keys without a character, with their numbers, and the text and location of those that have one.
const NAMED_KEYS = {
  Escape: 27, Tab: 9, Backspace: 8, Delete: 46, Insert: 45, Home: 36, End: 35, PageUp: 33, PageDown: 34, ArrowUp: 38,
  ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39, CapsLock: 20, ContextMenu: 93, Pause: 19, PrintScreen: 44,
  ScrollLock: 145, NumLock: 144,
};
const MODIFIER_KEYS = {
  ShiftLeft: ['Shift', 16], ShiftRight: ['Shift', 16], ControlLeft: ['Control', 17], ControlRight: ['Control', 17],
  AltLeft: ['Alt', 18], AltRight: ['Alt', 18], MetaLeft: ['Meta', 91], MetaRight: ['Meta', 92],
};
const MODIFIER_BITS = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

const KEYS = new Map();
for (const [code, key, shifted, keyCode] of KEY_ROWS) {
  const plain = { code, key, keyCode, text: key, shifted };
  KEYS.set(code, plain);
  KEYS.set(key, plain);
  if (shifted !== key) KEYS.set(shifted, { code, key: shifted, keyCode, text: shifted, shifted });
}
for (const [key, keyCode] of Object.entries(NAMED_KEYS)) KEYS.set(key, { code: key, key, keyCode, text: '' });
for (let i = 1; i <= 12; i++) KEYS.set(`F${i}`, { code: `F${i}`, key: `F${i}`, keyCode: 111 + i, text: '' });
for (const [code, [key, keyCode]] of Object.entries(MODIFIER_KEYS)) {
  const entry = { code, key, keyCode, text: '', location: code.endsWith('Right') ? 2 : 1 };
  KEYS.set(code, entry);
  if (code.endsWith('Left')) KEYS.set(key, entry);
}
const ENTER = { code: 'Enter', key: 'Enter', keyCode: 13, text: '\r' };
for (const name of ['Enter', 'NumpadEnter', '\n', '\r']) KEYS.set(name, ENTER);

function keyOf(name) {
  if (typeof name !== 'string') throw new Error(`key: expected string, got ${typeof name}`);
  const wanted = name === 'ControlOrMeta' ? 'Control' : name;
  const key = KEYS.get(wanted);
  if (!key) throw new Error(`Unknown key: "${name}"`);
  return key;
}
