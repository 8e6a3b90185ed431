//! Secrets: keys and tokens by their documented formats, passwords by the name that they are assigned to, and random
//! tokens after a word for a secret.

mod format;
mod random;

use std::ops::Range;

use crate::context::word_before;
use crate::kind::Kind;
use crate::scan::{Scan, TextPart};
use crate::zone::ZoneClass;

use random::{is_placeholder, is_random, is_strong};

/// The maximum length of an assigned secret, in bytes.
const MAX_VALUE_BYTES: usize = 512;
/// The minimum length of a password, in characters.
const MIN_PASSWORD_CHARS: usize = 6;

/// Words before a key.
const WORDS: &[&str] =
    &["key", "apikey", "token", "secret", "bearer", "authorization", "credential", "credentials"];

/// The ends of names that passwords are assigned to, in lower case, without separators of words.
const PASSWORD_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passwort",
    "kennwort",
    "contraseña",
    "senha",
    "motdepasse",
    "wachtwoord",
    "hasło",
    "lösenord",
    "пароль",
    "密码",
    "パスワード",
    "pwd",
    "passphrase",
    "passcode",
];

/// The ends of names that keys and tokens are assigned to.
const KEY_NAMES: &[&str] = &[
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "authkey",
    "token",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "sharedkey",
    "masterkey",
    "licensekey",
    "credential",
    "credentials",
    "signature",
    "bearer",
    "sig",
    "accesskeyid",
    "webhooksecret",
];

/// Finds a secret in the token that starts at `at`. Returns its end; `at` if it is not a secret.
pub(crate) fn token(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    if at < scan.token_end || !scan.wants(Kind::Secret) {
        return at;
    }
    let bytes = &scan.bytes()[at..part.end];
    let length = bytes.iter().take_while(|b| is_token(**b)).count();
    scan.token_end = at + length.max(1);
    scan.work += length as u64;
    if length < 8 {
        // Some formats have a short prefix, and a body with other characters.
        let may_continue = bytes.get(length).is_some_and(|b| matches!(b, b'.' | b':')) && length >= 2;
        if !may_continue {
            return at;
        }
    }
    // All formats have digits, in this token or after a mark.
    let may_continue = bytes.get(length).is_some_and(|b| matches!(b, b'.' | b':' | b'/' | b'+' | b'='));
    if !may_continue && !bytes[..length].iter().any(u8::is_ascii_digit) {
        return at;
    }
    if let Some(token_length) = format::token_length(bytes) {
        scan.work += token_length as u64;
        scan.record(Kind::Secret, at..at + token_length);
        return at + token_length;
    }
    let token = &scan.text[at..at + length];
    let is_named = length >= 20 && is_random(token) && word_before(scan, at, WORDS);
    let is_named_hex =
        matches!(length, 32 | 40 | 48 | 64) && random::is_hex(token) && word_before(scan, at, WORDS);
    let is_suspect =
        scan.is_aggressive() && part.class == ZoneClass::Text && length >= 24 && is_random(token);
    if (is_named || is_named_hex || is_suspect) && !is_placeholder(token) {
        scan.record(Kind::Secret, at..at + length);
        return at + length;
    }
    at
}

fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

/// Finds a value after a `:` or `=` that has the name of a secret.
pub(crate) fn assignment(scan: &mut Scan<'_>, part: TextPart, at: usize) {
    if !scan.wants(Kind::Secret) {
        return;
    }
    let name = name_before(scan, part, at);
    let is_any = |names: &[&str]| names.iter().any(|end| name.ends_with(end));
    let is_password = is_any(PASSWORD_NAMES);
    if name.is_empty() || !(is_password || is_any(KEY_NAMES)) {
        return;
    }
    // In prose a password may contain any mark; in code and URLs, marks are syntax.
    let ends_value = if is_password && part.class == ZoneClass::Text { ends_password } else { ends_token };
    let Some(range) = value_range(scan, part, at + 1, ends_value) else { return };
    let value = &scan.text[range.clone()];
    if is_placeholder(value) || value.contains("://") {
        return;
    }
    let is_secret = match part.class {
        ZoneClass::Text if is_password => value.chars().count() >= MIN_PASSWORD_CHARS && is_strong(value),
        ZoneClass::Text | ZoneClass::Url => value.len() >= 12 && (is_random(value) || random::is_hex(value)),
        ZoneClass::Code | ZoneClass::Mail | ZoneClass::Tel => {
            value.len() >= 16 && (is_random(value) || random::is_hex(value))
        }
    };
    if is_secret {
        scan.record(Kind::Secret, range);
    }
}

/// Returns the name before an assignment in lower case, without quotes, spaces and separators of words.
fn name_before(scan: &mut Scan<'_>, part: TextPart, at: usize) -> String {
    let head = &scan.text[part.start..at];
    let mut name: Vec<char> = Vec::with_capacity(24);
    let mut work = 0;
    for c in head.chars().rev().take(28) {
        work += 1;
        match c {
            '"' | '\'' | '*' | ' ' | '_' | '-' | '`' | ']' => {}
            c if c.is_alphanumeric() => name.extend(c.to_lowercase()),
            _ => break,
        }
    }
    scan.work += work;
    name.iter().rev().collect()
}

/// Returns the range of the value after an assignment: in quotes or code marks, or up to a character that `ends_value`.
fn value_range(
    scan: &mut Scan<'_>,
    part: TextPart,
    at: usize,
    ends_value: fn(char) -> bool,
) -> Option<Range<usize>> {
    let last = if part.class == ZoneClass::Text { scan.text.len() } else { part.end };
    let rest = scan.text.get(at..last)?;
    let lead = rest.bytes().take(4).take_while(|b| matches!(b, b' ' | b'=' | b'>' | b'*')).count();
    let rest = &rest[lead..];
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let open = quote.map_or(0, char::len_utf8);
    let rest = &rest[open..];
    let mut end = 0;
    for c in rest.chars() {
        let is_end = match quote {
            Some(quote) => c == quote || c == '\n',
            None => ends_value(c),
        };
        if is_end {
            break;
        }
        end += c.len_utf8();
        if end > MAX_VALUE_BYTES {
            return None;
        }
    }
    scan.work += (lead + end) as u64;
    // Marks at the end belong to the sentence, the list or the bracket.
    let value = rest[..end].trim_end_matches(['.', ':', '*', ',', ';', ')', ']', '}']);
    let start = at + lead + open;
    (!value.is_empty()).then_some(start..start + value.len())
}

fn ends_token(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | ')' | '<' | '|' | '&' | ']' | '}')
}

fn ends_password(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '`' | '<' | '|')
}

/// Finds a password in a URL: `scheme://user:password@host`.
pub(crate) fn user_info(scan: &mut Scan<'_>, part: TextPart) {
    let text = &scan.text[part.start..part.end];
    let Some((scheme, rest)) = text.split_once("://") else { return };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    scan.work += authority.len() as u64;
    let Some((user_info, _host)) = authority.rsplit_once('@') else { return };
    let Some((user, password)) = user_info.split_once(':') else { return };
    let start = part.start + scheme.len() + 3 + user.len() + 1;
    if !is_placeholder(password) {
        scan.record(Kind::Secret, start..start + password.len());
    }
}

/// Finds a private key in PEM (RFC 7468) from its first line. Returns the position at which the scan resumes.
pub(crate) fn pem(scan: &mut Scan<'_>, part: TextPart, at: usize) -> usize {
    const BEGIN: usize = "-----BEGIN ".len();
    let text = &scan.text[at..part.end];
    let label = text.as_bytes()[BEGIN..].iter().take(48).position(|&b| b == b'-');
    let Some(label) = label.map(|length| BEGIN + length) else { return at + BEGIN };
    if !text[BEGIN..label].ends_with("PRIVATE KEY") && !text[BEGIN..label].ends_with("PRIVATE KEY BLOCK") {
        return at + BEGIN;
    }
    let mut end = text.floor_char_boundary(label + 5);
    let mut last = end;
    while let Some((token, next)) = next_token(text, end) {
        let is_end = token.contains("-----END");
        if !is_end && !is_pem_body(token) {
            break;
        }
        if is_end {
            let tail = text[next..].len().min(40);
            let tail = text.get(next..next + tail).unwrap_or_default();
            let close = tail.find("-----").map_or(next, |close| next + close + 5);
            last = if token.matches("-----").count() >= 2 { next } else { close };
            break;
        }
        end = next;
        // A short last line counts only before the end mark.
        if token.len() >= 16 {
            last = next;
        }
    }
    scan.work += last as u64;
    scan.record(Kind::Secret, at..at + last);
    at + last
}

/// Returns the next token without white space, and its end.
fn next_token(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = &text[at..];
    let token = rest.trim_start_matches([' ', '\n', '\r', '\t', '>']);
    let start = at + rest.len() - token.len();
    let length = token.find(char::is_whitespace).unwrap_or(token.len());
    (length > 0).then(|| (&text[start..start + length], start + length))
}

/// Returns whether a token may be part of a key in PEM.
fn is_pem_body(token: &str) -> bool {
    matches!(token, "Proc-Type:" | "DEK-Info:" | "Version:" | "Comment:")
        || token.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=\\,-.:".contains(&b))
            && (token.len() >= 16
                || token.bytes().any(|b| b.is_ascii_digit() || b == b'=' || b == b'+' || b == b'/'))
}
