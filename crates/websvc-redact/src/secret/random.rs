//! Detection of random text, as opposed to names and sentences.

/// Returns whether the token is too mixed to be a name: letters of both cases and digits that alternate.
pub(super) fn is_random(token: &str) -> bool {
    let (mut lower, mut upper, mut digits, mut turns) = (0, 0, 0, 0);
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
        turns += usize::from(class != last);
        last = class;
    }
    let mixed = (upper > 0 && lower > 0 && digits > 0) || (digits >= 3 && lower + upper >= 3);
    // In what is random every second character or so is of another class; in names every sixth.
    mixed && digits >= 2 && turns * 7 >= token.len() * 2 && !is_uuid(token) && entropy(token) >= 3.0
}

/// Returns whether the token consists of hexadecimal digits of one case, with both digits and letters.
pub(super) fn is_hex(token: &str) -> bool {
    let lower = token.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let upper = token.bytes().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F'));
    (lower || upper)
        && token.len() >= 16
        && token.bytes().any(|b| b.is_ascii_digit())
        && token.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Returns whether the value looks like a password: letters, and digits or marks that prose does not have there.
pub(super) fn is_strong(value: &str) -> bool {
    let letters = value.chars().any(char::is_alphabetic);
    let digits = value.bytes().any(|b| b.is_ascii_digit());
    let marks = value.bytes().any(|b| b"!@#$%^&*+=?~".contains(&b));
    !is_call(value) && ((letters && (digits || marks)) || (digits && marks))
}

/// Returns whether the value is an expression: `getpass(...)`, `config["x"]`, `{name}`. Passwords have brackets
/// anywhere.
fn is_call(value: &str) -> bool {
    let Some((name, _)) = value.split_once(['(', '[', '{']) else { return false };
    name.is_empty()
        || name.len() > 2 && name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.'))
}

/// Returns whether the value is a placeholder.
pub(super) fn is_placeholder(value: &str) -> bool {
    let low = value.to_ascii_lowercase();
    let begins =
        ["$", "{", "<", "%", "*", "[", "...", "your", "xxx", "example", "process.env", "os.environ", "env."];
    begins.iter().any(|begin| low.starts_with(begin))
        || ["placeholder", "changeme", "your_", "your-"].iter().any(|part| low.contains(part))
        || low.bytes().all(|b| b == low.as_bytes()[0])
        || is_uuid(value) && value.bytes().all(|b| matches!(b, b'0' | b'-'))
}

fn is_uuid(token: &str) -> bool {
    let lengths: Vec<usize> = token.split('-').map(str::len).take(6).collect();
    lengths == [8, 4, 4, 4, 12] && token.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

/// Returns the bits per character of a token by its own frequencies.
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
