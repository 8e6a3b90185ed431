//! Detection of random text, as opposed to names and sentences.

/// Returns whether a token is random: letters of both cases and digits alternate more than in a name.
pub(super) fn is_random(token: &str) -> bool {
    let (mut lower, mut upper, mut digits, mut changes) = (0, 0, 0, 0);
    let mut last = 0;
    for b in token.bytes() {
        let class = match b {
            b'a'..=b'z' => {
                lower += 1;
                1
            }
            b'A'..=b'Z' => {
                upper += 1;
                2
            }
            b'0'..=b'9' => {
                digits += 1;
                3
            }
            _ => 4,
        };
        changes += usize::from(class != last);
        last = class;
    }
    let is_mixed = (upper > 0 && lower > 0 && digits > 0) || (digits >= 3 && lower + upper >= 3);
    // In random text about every second character has another class than the one before, in names every sixth.
    is_mixed && digits >= 2 && changes * 7 >= token.len() * 2 && !is_uuid(token) && entropy(token) >= 3.0
}

/// Returns whether a token consists of hexadecimal digits of one case, with both digits and letters.
pub(super) fn is_hex(token: &str) -> bool {
    let is_lower = token.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_upper = token.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
    (is_lower || is_upper)
        && token.len() >= 16
        && token.bytes().any(|b| b.is_ascii_digit())
        && token.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Returns whether a value looks like a password: letters, and digits or marks that prose rarely has in words.
pub(super) fn is_strong(value: &str) -> bool {
    let has_letters = value.chars().any(char::is_alphabetic);
    let has_digits = value.bytes().any(|b| b.is_ascii_digit());
    let has_marks = value.bytes().any(|b| b"!@#$%^&*+=?~".contains(&b));
    !is_expression(value) && ((has_letters && (has_digits || has_marks)) || (has_digits && has_marks))
}

/// Returns whether a value is an expression: `getpass(...)`, `config["x"]`, `{name}`. A password may have brackets in
/// any position.
fn is_expression(value: &str) -> bool {
    let Some((name, _)) = value.split_once(['(', '[', '{']) else { return false };
    name.is_empty()
        || name.len() > 2 && name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.'))
}

/// Returns whether a value is a placeholder.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let prefixes =
        ["$", "{", "<", "%", "*", "[", "...", "your", "xxx", "example", "process.env", "os.environ", "env."];
    prefixes.iter().any(|prefix| lower.starts_with(prefix))
        || ["placeholder", "changeme", "your_", "your-"].iter().any(|part| lower.contains(part))
        || lower.bytes().all(|b| b == lower.as_bytes()[0])
        || is_uuid(value) && value.bytes().all(|b| matches!(b, b'0' | b'-'))
}

fn is_uuid(token: &str) -> bool {
    let lengths: Vec<usize> = token.split('-').map(str::len).take(6).collect();
    lengths == [8, 4, 4, 4, 12] && token.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// Returns the entropy of a token in bits per character, by the frequencies of its bytes.
fn entropy(token: &str) -> f32 {
    let mut counts = [0_u16; 256];
    for b in token.bytes() {
        counts[usize::from(b)] = counts[usize::from(b)].saturating_add(1);
    }
    let length = token.len() as f32;
    let bits = counts.iter().filter(|count| **count > 0).map(|count| {
        let share = f32::from(*count) / length;
        -share * share.log2()
    });
    bits.sum()
}
