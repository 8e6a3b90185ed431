//! Mail addresses: found by their `@` (lengths as in RFC 5321, letters other than ASCII as in RFC 6532).

use crate::kind::Kind;
use crate::scan::{Scan, TextPart};

/// The maximum length of the part before the `@`, in bytes.
const MAX_LOCAL_BYTES: usize = 64;
/// The maximum length of the domain, in bytes.
const MAX_DOMAIN_BYTES: usize = 255;

/// Finds the mail address around an `@`.
pub(crate) fn at_sign(scan: &mut Scan<'_>, part: TextPart, at: usize) {
    let Some(start) = local_start(scan, part, at) else { return };
    let Some(end) = domain_end(scan, part, at + 1) else { return };
    let text = scan.text;
    // Emphasis around an address has the same number of marks at both ends.
    let marks = text[start..at].bytes().take_while(|b| *b == b'_').count();
    let closing = text[end..part.end].bytes().take_while(|b| *b == b'_').count();
    let mut start = start + if closing > 0 { marks.min(closing) } else { 0 };
    if start >= at {
        return;
    }
    let mut end = end;
    // The brackets are part of an automatic link.
    if text[part.start..start].ends_with('<') && text[end..part.end].starts_with('>') {
        start -= 1;
        end += 1;
    }
    scan.record(Kind::Email, start..end);
}

/// Returns the start of the part before an `@`.
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
        if !fits || at - start > 2 * MAX_LOCAL_BYTES {
            break;
        }
        start -= c.len_utf8();
    }
    scan.work += work;
    let local = &scan.text[start..at];
    // Marks before an address in prose, markdown and code are not part of it.
    let lead = local.len()
        - local
            .trim_start_matches([
                '.', '\'', '\\', '*', '/', '=', '{', '}', '?', '&', '!', '#', '$', '^', '~', '%', '-', '+',
            ])
            .len();
    let local = &local[lead..];
    // A key before an equals sign, or a path before a slash, is not part of it either.
    let cut = local.rfind(['=', '/', '?', '&', '{', '}']).map_or(0, |cut| cut + 1);
    let local = &local[cut..];
    // In scripts without spaces, the word before the address is not part of it.
    let after = local
        .char_indices()
        .rev()
        .find(|(_, c)| crate::cjk::is_cjk(*c))
        .map_or(0, |(at, c)| at + c.len_utf8());
    let local = if after < local.len() { &local[after..] } else { local };
    let fits =
        !local.is_empty() && local.len() <= MAX_LOCAL_BYTES && !local.ends_with('.') && !local.contains("..");
    (fits && local.contains(char::is_alphanumeric)).then(|| at - local.len())
}

/// Returns the end of the domain after an `@`.
fn domain_end(scan: &mut Scan<'_>, part: TextPart, start: usize) -> Option<usize> {
    let rest = &scan.text[start..part.end];
    let mut end = 0;
    for c in rest.chars() {
        if !(c.is_alphanumeric() || matches!(c, '-' | '.')) || end > MAX_DOMAIN_BYTES {
            break;
        }
        end += c.len_utf8();
    }
    scan.work += end as u64;
    let mut domain = &rest[..end];
    // In scripts without spaces, letters after the domain belong to the sentence.
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

/// Returns the top-level domain of a domain with at least two labels; `None` if it is not one.
fn top_level(domain: &str) -> Option<&str> {
    let (host, top) = domain.rsplit_once('.')?;
    let letters = top.chars().count();
    let is_name = top.chars().all(char::is_alphabetic) || top.starts_with("xn--");
    // File names are not domains: `icon@2x.png`.
    const FILE_EXTENSIONS: &[&str] =
        &["png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "css", "js", "json"];
    (!host.is_empty() && is_name && (2..=24).contains(&letters) && !FILE_EXTENSIONS.contains(&top))
        .then_some(top)
}
