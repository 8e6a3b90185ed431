//! Mail addresses, found from their `@` (RFC 5321 for lengths, RFC 6532 for letters beyond ASCII).

use crate::kind::Kind;
use crate::scan::{Scan, TextPart};

const LONGEST_LOCAL: usize = 64;
const LONGEST_DOMAIN: usize = 255;

/// Looks for an address around an `@`.
pub(crate) fn at_sign(scan: &mut Scan<'_>, part: TextPart, at: usize) {
    let Some(start) = local_start(scan, part, at) else { return };
    let Some(end) = domain_end(scan, part, at + 1) else { return };
    let text = scan.text;
    // Emphasis around an address ends in the marks that it began with.
    let marks = text[start..at].bytes().take_while(|b| *b == b'_').count();
    let closing = text[end..part.end].bytes().take_while(|b| *b == b'_').count();
    let mut start = start + if closing > 0 { marks.min(closing) } else { 0 };
    if start >= at {
        return;
    }
    let mut end = end;
    // An automatic link is one with its brackets.
    if text[part.start..start].ends_with('<') && text[end..part.end].starts_with('>') {
        start -= 1;
        end += 1;
    }
    scan.find(Kind::Email, start..end);
}

fn local_start(scan: &mut Scan<'_>, part: TextPart, at: usize) -> Option<usize> {
    let head = &scan.text[part.start..at];
    let mut start = at;
    let mut work = 0;
    for c in head.chars().rev() {
        work += 1;
        let fits = if c.is_ascii() {
            c.is_ascii_alphanumeric() || "._%+-'\\!#$&*/=?^{}~".contains(c)
        } else {
            c.is_alphanumeric()
        };
        if !fits || at - start > 2 * LONGEST_LOCAL {
            break;
        }
        start -= c.len_utf8();
    }
    scan.work += work;
    let local = &scan.text[start..at];
    // What may begin a word in prose, and what markdown and code put before an address, is not of it.
    let lead = local.len()
        - local
            .trim_start_matches([
                '.', '\'', '\\', '*', '/', '=', '{', '}', '?', '&', '!', '#', '$', '^', '~', '%', '-', '+',
            ])
            .len();
    let local = &local[lead..];
    // A key before an equals sign, or a path before a slash, is not of it either.
    let cut = local.rfind(['=', '/', '?', '&', '{', '}']).map_or(0, |cut| cut + 1);
    let local = &local[cut..];
    // Scripts without spaces run into what follows them.
    let after = local
        .char_indices()
        .rev()
        .find(|(_, c)| crate::cjk::is_cjk(*c))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let local = if after < local.len() { &local[after..] } else { local };
    let fits =
        !local.is_empty() && local.len() <= LONGEST_LOCAL && !local.ends_with('.') && !local.contains("..");
    (fits && local.contains(char::is_alphanumeric)).then(|| at - local.len())
}

fn domain_end(scan: &mut Scan<'_>, part: TextPart, start: usize) -> Option<usize> {
    let rest = &scan.text[start..part.end];
    let mut end = 0;
    for c in rest.chars() {
        if !(c.is_alphanumeric() || matches!(c, '-' | '.')) || end > LONGEST_DOMAIN {
            break;
        }
        end += c.len_utf8();
    }
    scan.work += end as u64;
    let mut domain = &rest[..end];
    // Letters that follow without a space are of the sentence in scripts that have none.
    if domain.is_ascii() || domain.split('.').next_back().is_some_and(|top| !top.is_ascii()) {
        let ascii = domain.find(|c: char| !c.is_ascii()).unwrap_or(domain.len());
        let head = &domain[..ascii];
        if ascii < domain.len() && top_level(head.trim_end_matches('.')).is_some() {
            domain = head;
        }
    }
    let domain = domain.trim_end_matches(['.', '-']);
    top_level(domain)?;
    domain
        .split('.')
        .all(|label| !label.is_empty() && !label.starts_with('-') && label.len() <= 63)
        .then_some(())?;
    Some(start + domain.len())
}

/// Returns the top level of a domain with at least two labels.
fn top_level(domain: &str) -> Option<&str> {
    let (host, top) = domain.rsplit_once('.')?;
    let letters = top.chars().count();
    let is_name = top.chars().all(char::is_alphabetic) || top.starts_with("xn--");
    // Names of files are no hosts: `icon@2x.png`.
    const FILES: &[&str] = &["png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "css", "js", "json"];
    (!host.is_empty() && is_name && (2..=24).contains(&letters) && !FILES.contains(&top)).then_some(top)
}
