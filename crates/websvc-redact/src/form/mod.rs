//! The forms of personal data, for texts that a language model named: bounds that a text of its kind always keeps, so that
//! headings, sentences, times and prices are not removed from a page.

mod name;
mod number;

use crate::kind::Kind;

/// Minimum and maximum length of a text, in characters.
const LENGTH: std::ops::RangeInclusive<usize> = 2..=200;

/// Maximum length of a mail address, in bytes (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;

/// Maximum number of words of a mail address that is written without an `@`.
const MAX_EMAIL_WORDS: usize = 6;

/// Returns the part of a text that has the form of a kind: without the label or the sentence mark that models copy with it.
/// `None` if the text cannot be of this kind.
pub(crate) fn formed(kind: Kind, text: &str) -> Option<&str> {
    let text = text.trim();
    if !LENGTH.contains(&text.chars().count()) || text.contains(['\n', '\r']) {
        return None;
    }
    match kind {
        Kind::Email => email(text),
        Kind::Phone => number::is_phone(text).then_some(text),
        Kind::Financial => number::is_financial(text).then_some(text),
        Kind::Secret => number::secret(text),
        Kind::Location => name::location(text),
        Kind::Person => name::person(text),
    }
}

/// Returns the mail address in a text: the word with an `@`, or the whole text if the sign is written in words.
fn email(text: &str) -> Option<&str> {
    const MARKS: &[char] = &['<', '>', '(', ')', '[', ']', ',', ';', '.', ':', '"', '\'', '`', '*'];
    let words = text.split_whitespace();
    let with_sign =
        words.clone().map(|word| word.trim_matches(MARKS)).find(|word| word.len() > 1 && word.contains('@'));
    if let Some(word) = with_sign {
        let word = word.strip_prefix("mailto:").unwrap_or(word);
        let (local, domain) = word.rsplit_once('@')?;
        let is_address = !local.is_empty() && domain.chars().count() >= 3 && word.len() <= MAX_EMAIL_BYTES;
        return (is_address && domain.starts_with(char::is_alphanumeric)).then_some(word);
    }
    let sign = [" @ ", "(at)", "[at]", "{at}", " at "].iter().find_map(|sign| text.split_once(sign));
    let (local, domain) = sign?;
    let mut domain = domain.split_whitespace();
    let (host, dot) = (domain.next()?, domain.next().unwrap_or_default());
    let has_dot =
        host.trim_matches('.').contains('.') || matches!(dot, "dot" | "(dot)" | "[dot]" | "." | "punkt");
    let is_short =
        words.count() <= MAX_EMAIL_WORDS && local.split_whitespace().count() <= MAX_EMAIL_WORDS / 2;
    (has_dot && is_short && local.contains(char::is_alphanumeric)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_kind_is_found_without_what_models_copy_with_it() {
        for (kind, text, expected) in [
            (Kind::Person, " 王小明 ", "王小明"),
            (Kind::Person, "Anna", "Anna"),
            (Kind::Person, "Dr. Anna van der Berg", "Dr. Anna van der Berg"),
            (Kind::Person, "J. R. R. Tolkien,", "J. R. R. Tolkien"),
            (Kind::Person, "Anna Miller, Sales Manager", "Anna Miller"),
            (Kind::Person, "Anna Miller (sales)", "Anna Miller"),
            (Kind::Person, "Doe, Jane", "Doe, Jane"),
            (Kind::Person, "señor Telmo Vera", "señor Telmo Vera"),
            (Kind::Email, "jo (at) a.test", "jo (at) a.test"),
            (Kind::Email, "jo at a dot test", "jo at a dot test"),
            (Kind::Email, "Write to <jo@a.test>.", "jo@a.test"),
            (Kind::Email, "mailto:jo@a.test", "jo@a.test"),
            (Kind::Phone, "0171 555", "0171 555"),
            (Kind::Phone, "Tel. +49 (0)30 123456", "Tel. +49 (0)30 123456"),
            (Kind::Phone, "1-800-FLOWERS", "1-800-FLOWERS"),
            (Kind::Phone, "555-0100 ext. 12", "555-0100 ext. 12"),
            (Kind::Financial, "DEUTDEFF", "DEUTDEFF"),
            (Kind::Financial, "DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
            (Kind::Financial, "211-45-1234", "211-45-1234"),
            (Kind::Secret, "Tr0ub4dor", "Tr0ub4dor"),
            (Kind::Secret, "Password: hunter2", "hunter2"),
            (Kind::Location, "Main Street 5", "Main Street 5"),
            (Kind::Location, "10115", "10115"),
            (Kind::Location, "7 bis, rue Victor Hugo, 75001 Paris.", "7 bis, rue Victor Hugo, 75001 Paris"),
        ] {
            assert_eq!(formed(kind, text), Some(expected), "{kind:?} {text}");
        }
    }

    #[test]
    fn harmless_text_has_the_form_of_no_kind() {
        for (kind, text) in [
            (Kind::Person, "the"),
            (Kind::Person, "J"),
            (Kind::Person, "Line\nbreak"),
            (Kind::Person, "Green tea"),
            (Kind::Person, "Opening Hours: 10:30"),
            (Kind::Person, "Privacy Policy"),
            (Kind::Person, "Sencha Gyokuro Matcha Hojicha Genmaicha Bancha"),
            (Kind::Person, "We sell tea. Ask us"),
            (Kind::Person, "Monday"),
            (Kind::Person, "本店每天早上九点开门，欢迎光临。"),
            (Kind::Email, "Write to us"),
            (Kind::Email, "We are at home."),
            (Kind::Email, "Open at 10. Bring tea"),
            (Kind::Email, "@tea_shop"),
            (Kind::Phone, "call 911"),
            (Kind::Phone, "10:30"),
            (Kind::Phone, "10:30 - 18:00"),
            (Kind::Phone, "Mon-Fri 9.00-18.00"),
            (Kind::Phone, "2024"),
            (Kind::Phone, "2019-2024"),
            (Kind::Phone, "17.05.2024"),
            (Kind::Phone, "2024-05-17"),
            (Kind::Phone, "20240517"),
            (Kind::Phone, "1500000"),
            (Kind::Phone, "1,500,000"),
            (Kind::Phone, "12.500.000"),
            (Kind::Phone, "$1200.00"),
            (Kind::Phone, "12000000 tins"),
            (Kind::Financial, "price"),
            (Kind::Financial, "EUR 12.50"),
            (Kind::Financial, "12.50 euros"),
            (Kind::Financial, "SENCHA GREEN TEA"),
            (Kind::Financial, "1500000"),
            (Kind::Financial, "2024-05-17"),
            (Kind::Secret, "word"),
            (Kind::Secret, "Sencha"),
            (Kind::Secret, "well-known"),
            (Kind::Secret, "Welcome!"),
            (Kind::Secret, "10:30-18:00"),
            (Kind::Secret, "2024-05-17"),
            (Kind::Secret, "12.50EUR"),
            (Kind::Secret, "12 euros per tin"),
            (Kind::Location, "city"),
            (Kind::Location, "12 euros"),
            (Kind::Location, "2024"),
            (Kind::Location, "10:30"),
            (Kind::Location, "We deliver to most of them within five days"),
            (Kind::Location, "The garden opens early. Bring Tea"),
        ] {
            assert_eq!(formed(kind, text), None, "{kind:?} {text}");
        }
        assert_eq!(formed(Kind::Person, &"A".repeat(201)), None);
    }
}
