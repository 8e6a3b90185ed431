//! Email addresses.

use websvc_types::limits::EMAIL_MAX_CHARS;

use crate::domain;

/// Maximum length of the part before the `@`, in bytes (RFC 5321, section 4.5.3.1.1).
const LOCAL_MAX_BYTES: usize = 64;

/// Returns an address with its domain in lower case and ASCII form, or `None` if the text is not an address.
///
/// The part before the `@` is a dot-atom (RFC 5322, section 3.2.3). Other letters than those of ASCII (RFC 6531) are
/// refused, because few mail servers accept them. Quoted parts and comments are refused: no mail service issues such
/// addresses, and they are a way to smuggle others in.
pub(super) fn canonical(text: &str) -> Option<String> {
    let (local, domain) = text.trim().rsplit_once('@')?;
    let is_atom = |atom: &str| !atom.is_empty() && atom.chars().all(is_atom_char);
    if local.len() > LOCAL_MAX_BYTES || !local.split('.').all(is_atom) {
        return None;
    }
    let domain = domain::canonical(domain)?;
    let is_host = (domain.contains('.') || domain == "localhost") && domain.split('.').all(is_label);
    let address = format!("{local}@{domain}");
    (is_host && address.len() <= EMAIL_MAX_CHARS as usize).then_some(address)
}

/// Returns whether a part of a domain may be one of a mail server. Other names, such as `_dmarc`, only have records.
fn is_label(label: &str) -> bool {
    let is_char = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    label.bytes().all(is_char) && !label.starts_with('-') && !label.ends_with('-')
}

fn is_atom_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_normalized() {
        for (text, expected) in [
            ("anna@tea.test", "anna@tea.test"),
            (" Anna.B+news@TEA.Test ", "Anna.B+news@tea.test"),
            ("o'hara_1@mail.tea.test", "o'hara_1@mail.tea.test"),
            ("anna@bücher.test", "anna@xn--bcher-kva.test"),
            ("root@localhost", "root@localhost"),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        let long = format!("{}@tea.test", "a".repeat(65));
        // Shorter than the limit as it is written, and longer in ASCII.
        let long_domain = format!("anna@{}.test", vec!["ü".repeat(20); 10].join("."));
        for text in [
            "",
            "anna",
            "änna@tea.test",
            "@tea.test",
            "anna@",
            "anna@tea",
            "anna@@tea.test",
            "anna@tea@tea.test",
            "an na@tea.test",
            "anna@tea .test",
            "anna@tea..test",
            ".anna@tea.test",
            "anna.@tea.test",
            "a..b@tea.test",
            "\"anna\"@tea.test",
            "Anna <anna@tea.test>",
            "anna@tea.test\r\nBcc: b@tea.test",
            "anna@[127.0.0.1]",
            "anna@te_a.test",
            "anna@-tea.test",
            "anna(x)@tea.test",
            "anna,b@tea.test",
            &long,
            &long_domain,
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
