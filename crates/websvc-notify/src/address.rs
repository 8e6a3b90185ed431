//! Addresses of mail, of which only the plain form is accepted.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::text::clean_line;

/// Maximum length of an address, in bytes (RFC 5321, section 4.5.3.1, with its erratum 1690).
const MAX_ADDRESS_BYTES: usize = 254;
const MAX_LOCAL_BYTES: usize = 64;
const MAX_LABEL_BYTES: usize = 63;
/// Maximum length of the name of a mailbox, in characters.
const MAX_NAME_CHARS: usize = 100;

/// The address of a mailbox, such as `ada@example.com`.
///
/// The part before the `@` has ASCII letters, digits, dots and the other characters that need no quotes. The domain is
/// in ASCII and lower case; an international one is converted. So an address cannot contain what separates headers or
/// commands of SMTP.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EmailAddress {
    text: String,
    local_bytes: usize,
}

/// Error of a text that is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text} is not a mail address: {reason}")]
pub struct InvalidAddress {
    /// The text, shortened and without invisible characters.
    pub text: String,
    /// The rule that it breaks.
    pub reason: &'static str,
}

/// An address with the name of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mailbox {
    /// The name, which is cleaned when it is written.
    pub name: Option<String>,
    /// The address.
    pub address: EmailAddress,
}

impl EmailAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// [`InvalidAddress`] with the rule that the text breaks.
    pub fn parse(text: &str) -> Result<Self, InvalidAddress> {
        let invalid = |reason| InvalidAddress { text: clean_line(text, MAX_NAME_CHARS), reason };
        if text.len() > MAX_ADDRESS_BYTES {
            return Err(invalid("it is longer than 254 bytes"));
        }
        let (local, domain) = text.rsplit_once('@').ok_or_else(|| invalid("it has no @"))?;
        check_local(local).map_err(invalid)?;
        let domain = idna::domain_to_ascii(domain).map_err(|_| invalid("the domain is not a host name"))?;
        check_domain(&domain).map_err(invalid)?;
        let address = Self { text: format!("{local}@{domain}"), local_bytes: local.len() };
        if address.text.len() > MAX_ADDRESS_BYTES {
            return Err(invalid("it is longer than 254 bytes"));
        }
        Ok(address)
    }

    /// Returns the address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the SHA-256 of the mailbox, for limits: without the case of letters, without dots before the `@`, and
    /// without a part that begins with `+`. With many mail services, all these spellings are one mailbox.
    #[must_use]
    pub fn mailbox_hash(&self) -> [u8; 32] {
        let local = self.local().split('+').next().unwrap_or_default();
        let local = local.replace('.', "").to_ascii_lowercase();
        Sha256::digest(format!("{local}@{}", self.domain()).as_bytes()).into()
    }

    /// Returns the part before the `@`.
    pub(crate) fn local(&self) -> &str {
        &self.text[..self.local_bytes]
    }

    /// Returns the domain.
    pub(crate) fn domain(&self) -> &str {
        &self.text[self.local_bytes + 1..]
    }

    /// Returns the address in the type of the mail library.
    pub(crate) fn to_lettre(&self) -> lettre::Address {
        // Its check accepts fewer domains, such as those that end with a digit.
        lettre::Address::new_dangerous(self.local(), self.domain())
    }
}

/// Checks a dot-atom (RFC 5322, section 3.2.3).
fn check_local(local: &str) -> Result<(), &'static str> {
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    if local.is_empty() {
        return Err("nothing is before the @");
    }
    if local.len() > MAX_LOCAL_BYTES {
        return Err("more than 64 bytes are before the @");
    }
    if !local.split('.').all(is_atom) {
        return Err(
            "before the @ only ASCII letters, digits, single dots and !#$%&'*+-/=?^_`{|}~ are allowed",
        );
    }
    Ok(())
}

fn check_domain(domain: &str) -> Result<(), &'static str> {
    let is_label = |label: &str| {
        (1..=MAX_LABEL_BYTES).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    if domain.split('.').all(is_label) { Ok(()) } else { Err("the domain is not a host name") }
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Mailbox {
    /// Reads an address with or without a name: `websvc <alerts@example.com>` or `alerts@example.com`.
    ///
    /// # Errors
    /// [`InvalidAddress`] with the rule that the address breaks.
    pub fn parse(text: &str) -> Result<Self, InvalidAddress> {
        let text = text.trim();
        let named = text.strip_suffix('>').and_then(|text| text.rsplit_once('<'));
        let Some((name, address)) = named else {
            return Ok(Self { name: None, address: EmailAddress::parse(text)? });
        };
        let name = name.trim().trim_matches('"').to_owned();
        let name = (!name.is_empty()).then_some(name);
        Ok(Self { name, address: EmailAddress::parse(address)? })
    }

    /// Returns the mailbox in the type of the mail library, with a clean name.
    pub(crate) fn to_lettre(&self) -> lettre::message::Mailbox {
        let name = self.name.as_deref().map(header_text).filter(|name| !name.is_empty());
        lettre::message::Mailbox::new(name, self.address.to_lettre())
    }
}

impl From<EmailAddress> for Mailbox {
    fn from(address: EmailAddress) -> Self {
        Self { name: None, address }
    }
}

/// Returns text for a header. An encoded word (RFC 2047) in it would be decoded by the reader, after all checks, so its
/// beginning is taken apart.
pub(crate) fn header_text(text: &str) -> String {
    clean_line(text, MAX_HEADER_CHARS).replace("=?", "= ?")
}

/// Maximum length of the text of a header, in characters.
const MAX_HEADER_CHARS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let parsed = EmailAddress::parse(text);
        assert_eq!(parsed.as_ref().map(EmailAddress::as_str).map_err(|error| error.reason), expected);
    }

    #[test]
    fn plain_addresses_are_accepted() {
        check("ada@example.com", Ok("ada@example.com"));
        check("ada.b+tag@EXAMPLE.com", Ok("ada.b+tag@example.com"));
        check("ada@bücher.example", Ok("ada@xn--bcher-kva.example"));
        check("root@localhost", Ok("root@localhost"));
    }

    #[test]
    fn other_texts_name_the_rule() {
        let atom = "before the @ only ASCII letters, digits, single dots and !#$%&'*+-/=?^_`{|}~ are allowed";
        check("ada", Err("it has no @"));
        check("@example.com", Err("nothing is before the @"));
        check("a..b@example.com", Err(atom));
        check("ada@example.com>\r\nRCPT TO:<eve@example.com", Err(atom));
        check("ada\r\nBcc: eve@example.com", Err(atom));
        check("\"a b\"@example.com", Err(atom));
        check("\u{202e}ada@example.com", Err(atom));
        check("ada@example.com\r\n", Err("the domain is not a host name"));
        check("ada@exa\u{202e}mple.com", Err("the domain is not a host name"));
        check("ada@-a.com", Err("the domain is not a host name"));
        check("ada@a..com", Err("the domain is not a host name"));
        check("ada@[127.0.0.1]", Err("the domain is not a host name"));
        check(&format!("{}@example.com", "a".repeat(65)), Err("more than 64 bytes are before the @"));
        check(&format!("a@{}com", "a.".repeat(126)), Err("it is longer than 254 bytes"));
    }

    #[test]
    fn spellings_of_a_mailbox_have_one_hash() {
        let hash = |text: &str| EmailAddress::parse(text).unwrap().mailbox_hash();
        for text in ["Ada.B@example.com", "adab+news@EXAMPLE.com", "adab@example.com"] {
            assert_eq!(hash(text), hash("adab@example.com"), "{text}");
        }
        for text in ["adac@example.com", "adab@example.org", "adab-news@example.com"] {
            assert_ne!(hash(text), hash("adab@example.com"), "{text}");
        }
    }

    #[test]
    fn mailbox_has_an_optional_name() {
        let address = EmailAddress::parse("a@b.example").unwrap();
        for (text, name) in [
            ("a@b.example", None),
            ("<a@b.example>", None),
            ("Ada B <a@b.example>", Some("Ada B")),
            ("\"Ada, B\" <a@b.example>", Some("Ada, B")),
        ] {
            let expected = Mailbox { name: name.map(str::to_owned), address: address.clone() };
            assert_eq!(Mailbox::parse(text), Ok(expected), "{text}");
        }
        assert!(Mailbox::parse("Ada <a>").is_err());
    }
}
