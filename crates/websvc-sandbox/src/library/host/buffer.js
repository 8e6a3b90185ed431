// Bytes: base64, UTF-8, and the part of Node's Buffer that programs use with screenshots and files.

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BASE64_VALUES = new Uint8Array(128).fill(255);
for (let i = 0; i < 64; i++) BASE64_VALUES[BASE64.charCodeAt(i)] = i;
BASE64_VALUES['-'.charCodeAt(0)] = 62;
BASE64_VALUES['_'.charCodeAt(0)] = 63;

function encodeBase64(bytes) {
  const parts = [];
  for (let i = 0; i < bytes.length; i += 3) {
    const [a, b, c] = [bytes[i], bytes[i + 1], bytes[i + 2]];
    parts.push(BASE64[a >> 2] + BASE64[((a & 3) << 4) | ((b || 0) >> 4)]
      + (b === undefined ? '=' : BASE64[((b & 15) << 2) | ((c || 0) >> 6)]) + (c === undefined ? '=' : BASE64[c & 63]));
  }
  return parts.join('');
}

function decodeBase64(text) {
  const bytes = new Uint8Array(Math.ceil(text.length * 3 / 4));
  let length = 0;
  let bits = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? BASE64_VALUES[code] : 255;
    if (value === 255) continue;
    bits = (bits << 6) | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[length++] = (bits >> count) & 255;
    }
  }
  return bytes.subarray(0, length);
}

function encodeUtf8(text) {
  const bytes = [];
  for (const char of text) {
    let code = char.codePointAt(0);
    if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | code >> 6, 0x80 | code & 63);
    else if (code < 0x10000) bytes.push(0xe0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63);
    else bytes.push(0xf0 | code >> 18, 0x80 | code >> 12 & 63, 0x80 | code >> 6 & 63, 0x80 | code & 63);
  }
  return Uint8Array.from(bytes);
}

function decodeUtf8(bytes) {
  const parts = [];
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i++];
    const more = first < 0x80 ? 0 : first >= 0xf0 && first < 0xf5 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : -1;
    let code = more === 0 ? first : more === 1 ? first & 31 : more === 2 ? first & 15 : first & 7;
    let left = more;
    while (left > 0 && i < bytes.length && (bytes[i] & 0xc0) === 0x80) { code = code << 6 | bytes[i++] & 63; left--; }
    parts.push(more < 0 || left > 0 || code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code));
  }
  return parts.join('');
}

class Buffer extends Uint8Array {
  static from(value, encoding) {
    if (typeof value === 'string') {
      if (encoding === 'base64' || encoding === 'base64url') return Buffer._of(decodeBase64(value));
      if (encoding === 'hex') return Buffer._of(Uint8Array.from(value.match(/../g) || [], pair => parseInt(pair, 16)));
      if (encoding === 'latin1' || encoding === 'binary') return Buffer._of(Uint8Array.from(value, c => c.charCodeAt(0)));
      return Buffer._of(encodeUtf8(value));
    }
    if (value instanceof ArrayBuffer) return new Buffer(value);
    return Buffer._of(Uint8Array.from(value));
  }

  static _of(bytes) { return new Buffer(bytes.buffer, bytes.byteOffset, bytes.length); }
  static alloc(length, fill = 0) { return new Buffer(length).fill(fill); }
  static isBuffer(value) { return value instanceof Buffer; }
  static byteLength(text, encoding) { return Buffer.from(text, encoding).length; }
  static concat(list) {
    const result = new Buffer(list.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of list) {
      result.set(part, at);
      at += part.length;
    }
    return result;
  }

  toString(encoding = 'utf8', start = 0, end = this.length) {
    const bytes = this.subarray(start, end);
    if (encoding === 'base64') return encodeBase64(bytes);
    if (encoding === 'hex') return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
    if (encoding === 'latin1' || encoding === 'binary' || encoding === 'ascii') {
      return Array.from(bytes, byte => String.fromCharCode(byte)).join('');
    }
    return decodeUtf8(bytes);
  }

  equals(other) { return this.length === other.length && this.every((byte, i) => byte === other[i]); }
  toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
}

class TextEncoder {
  encode(text = '') { return encodeUtf8(String(text)); }
}

class TextDecoder {
  decode(bytes = new Uint8Array()) { return decodeUtf8(new Uint8Array(bytes.buffer || bytes)); }
}

const atob = text => Array.from(decodeBase64(String(text)), byte => String.fromCharCode(byte)).join('');
const btoa = text => encodeBase64(Uint8Array.from(String(text), char => char.charCodeAt(0)));
