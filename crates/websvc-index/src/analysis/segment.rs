//! Segmentation of text into words, or into overlapping pairs of characters for scripts without spaces.

use super::emoji;
use super::joined::{Joined, joined, joined_name};

/// Kinds of units of a [`Word`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word between spaces or punctuation.
    Letters,
    /// Two neighboring characters of a script without spaces (Chinese, Japanese, Korean, Thai, ...).
    Pair,
    /// The last character of a run of such characters. Due to it, every character begins a unit of the index.
    Last,
    /// The only character of such a run.
    Single,
}

/// A unit of text. Its position is its index in the sequence of units.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    /// The unit in lower case, with accents.
    pub(crate) lower: &'a str,
    pub(crate) kind: Kind,
    /// The spelling that distinguishes the word from others with the same letters: `.net`, `-80`, `#1`, `@tea`, `Go`.
    pub(crate) mark: Option<&'a str>,
    /// The text that begins with this word, if it is also written as one word.
    pub(crate) joined: Option<Joined<'a>>,
}

/// Maximum bytes of a unit. Longer units are noise such as encoded data; they have a position but an empty text.
const MAX_BYTES: usize = 96;

/// Returns the longest prefix of `text` with whole characters and at most `max_bytes` bytes.
pub(crate) fn head(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Calls `f` with every unit of `text` in order.
pub(crate) fn each_word(text: &str, mut f: impl FnMut(Word<'_>)) {
    let mut buffers = Buffers::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if is_unspaced(c) {
            at = unspaced_run(text, at, &mut f);
        } else if narrow(c).is_alphanumeric() {
            at = spaced_word(text, at, &mut buffers, &mut f);
        } else if c > '\u{203b}'
            && let Some(end) = emoji::end(text, at)
        {
            emoji::write(&text[at..end], &mut buffers.lower);
            f(Word { lower: &buffers.lower, kind: Kind::Letters, mark: None, joined: None });
            at = end;
        } else {
            at += c.len_utf8();
        }
    }
}

/// Returns true if `c` belongs to a script without spaces between words, or to Hangul, whose words have so many endings
/// that pairs of characters match them better.
fn is_unspaced(c: char) -> bool {
    c >= '\u{e00}'
        && matches!(c,
            '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' // Thai
            | '\u{e81}'..='\u{ecd}' // Lao
            | '\u{1000}'..='\u{109f}' // Myanmar
            | '\u{1780}'..='\u{17d3}' // Khmer
            | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns the half-width form of a full-width character.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

fn unspaced_run(text: &str, start: usize, f: &mut impl FnMut(Word<'_>)) -> usize {
    let mut previous = start;
    let mut at = start;
    let mut count = 0usize;
    for c in text[start..].chars().take_while(|&c| is_unspaced(c)) {
        let end = at + c.len_utf8();
        if count > 0 {
            f(Word { lower: &text[previous..end], kind: Kind::Pair, mark: None, joined: None });
        }
        previous = at;
        at = end;
        count += 1;
    }
    let kind = if count == 1 { Kind::Single } else { Kind::Last };
    f(Word { lower: &text[previous..at], kind, mark: None, joined: None });
    at
}

/// Buffers that are used for one word after the other.
#[derive(Default)]
struct Buffers {
    lower: String,
    mark: String,
    joined: String,
}

/// Reads the word at `start`. Returns the position after it.
fn spaced_word(text: &str, start: usize, buffers: &mut Buffers, f: &mut impl FnMut(Word<'_>)) -> usize {
    let Buffers { lower, mark, joined: buffer } = buffers;
    let (mut at, apostrophe) = read_word(text, start, lower);
    // Without their suffix, C++, C# and similar names would be single letters.
    if lower.len() == 1 {
        let suffix =
            ["++", "#"].into_iter().find(|suffix| text[at..].starts_with(suffix)).unwrap_or_default();
        lower.push_str(suffix);
        at += suffix.len();
    }
    if let Some(apostrophe) = apostrophe {
        let joined = joined_name(&text[start..at], lower, apostrophe);
        emit(lower, apostrophe, joined, f);
        return at;
    }
    let joined = joined(text, start..at, lower, buffer);
    let mark = match joined {
        Some(Joined { is_abbreviation: true, units, .. }) => capitals(&text[start..], units, mark),
        _ => mark_of(text, start..at, lower, mark),
    };
    f(Word { lower: shortened(lower), kind: Kind::Letters, mark, joined });
    at
}

/// Reads the word at `start` in lower case, without its apostrophe. Returns the position after it, and the length before
/// the apostrophe.
fn read_word(text: &str, start: usize, lower: &mut String) -> (usize, Option<usize>) {
    lower.clear();
    let mut apostrophe = None;
    let mut at = start;
    while let Some(c) = text[at..].chars().next() {
        let plain = narrow(c);
        if plain.is_ascii_alphanumeric() {
            lower.push(plain.to_ascii_lowercase());
        } else if (plain.is_alphanumeric() && !is_unspaced(c)) || is_mark(c) {
            lower.extend(plain.to_lowercase());
        } else if matches!(c, '\'' | '\u{2019}' | '\u{2bc}')
            && apostrophe.is_none()
            && letter_at(text, at + c.len_utf8())
        {
            apostrophe = Some(lower.len());
        } else {
            break;
        }
        at += c.len_utf8();
    }
    (at, apostrophe)
}

/// Returns the capitals of an abbreviation of two letters, which distinguish `U.S.` from `us`.
fn capitals<'a>(text: &str, units: usize, buffer: &'a mut String) -> Option<&'a str> {
    buffer.clear();
    buffer.extend(text.chars().filter(|&c| c != '.').take(units));
    (units == 2 && buffer.bytes().all(|byte| byte.is_ascii_uppercase())).then_some(buffer)
}

/// Returns the mark of a word. A sign counts only at the start of a text between spaces: `asp.net` and `a-80` have none.
fn mark_of<'a>(
    text: &'a str,
    word: std::ops::Range<usize>,
    lower: &str,
    buffer: &'a mut String,
) -> Option<&'a str> {
    let (before, spelled) = (&text[..word.start], &text[word]);
    // Of most words, only the byte before them is looked at: a space.
    let sign = match before.as_bytes().last() {
        Some(b'.') if lower.starts_with(char::is_alphabetic) => '.',
        Some(b'-') if lower.starts_with(char::is_numeric) => '-',
        Some(0x92) if before.ends_with('\u{2212}') && lower.starts_with(char::is_numeric) => '-',
        Some(b'#') => '#',
        Some(b'@') => '@',
        _ => {
            let is_short_name = match spelled.as_bytes() {
                [first, second] => first.is_ascii_uppercase() && second.is_ascii_alphabetic(),
                _ => false,
            };
            return is_short_name.then_some(spelled);
        }
    };
    let previous = before.chars().rev().nth(1);
    let is_start = previous.is_none_or(|c| c.is_whitespace() || "([{\"'“„«".contains(c));
    if !is_start || lower.len() >= MAX_BYTES {
        return None;
    }
    buffer.clear();
    buffer.push(sign);
    buffer.push_str(lower);
    Some(buffer)
}

/// Emits a word, split at its apostrophe: `l'amour` is `amour`, `python's` is `python`, `don't` is `dont`.
fn emit(lower: &str, apostrophe: usize, joined: Option<Joined<'_>>, f: &mut impl FnMut(Word<'_>)) {
    let mut word = |text: &str| {
        f(Word { lower: shortened(text), kind: Kind::Letters, mark: None, joined });
    };
    let (left, right) = lower.split_at(apostrophe);
    if right == "s" {
        word(left);
    } else if right.chars().nth(2).is_none() {
        word(lower);
    } else if left.chars().nth(2).is_none() {
        word(right);
    } else {
        word(left);
        word(right);
    }
}

/// Returns a word, or an empty text for a word that is too long.
fn shortened(word: &str) -> &str {
    if word.len() > MAX_BYTES { "" } else { word }
}

fn letter_at(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(char::is_alphabetic)
}

/// Returns true if `c` is a mark that belongs to the letter before it.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && unicode_normalization::char::is_combining_mark(c)
        || matches!(c, '\u{200c}' | '\u{200d}' | '\u{ad}')
}

#[cfg(test)]
mod tests {
    use super::{Kind, each_word};

    fn check(text: &str, expected: &[&str]) {
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.lower.to_owned()));
        assert_eq!(words, expected, "{text:?}");
    }

    #[test]
    fn words_end_at_spaces_and_punctuation() {
        check("asyncio.gather(*aws)", &["asyncio", "gather", "aws"]);
        check("max_length=3.11", &["max", "length", "3", "11"]);
        check("C++ and C# or F", &["c++", "and", "c#", "or", "f"]);
        check("Ｆｕｌｌ Width", &["full", "width"]);
        check("", &[]);
        check(&"x".repeat(200), &[""]);
    }

    #[test]
    fn sign_at_the_start_and_short_names_are_marks() {
        let mut marks = Vec::new();
        each_word(
            "the .NET of ASP.NET (.env) at -80 or \u{2212}20 \u{b0}C, a-5 --9 #1 x#2 @tea a@b.c ... Go GO go Is's .5",
            |word| marks.extend(word.mark.map(str::to_owned)),
        );
        assert_eq!(marks, [".net", ".env", "-80", "-20", "#1", "@tea", "Go", "GO"]);
    }

    #[test]
    fn words_are_split_at_apostrophes() {
        check("l'amour d’été", &["amour", "été"]);
        check(
            "don't Python's O'Reilly rock'n'roll 'quoted'",
            &["dont", "python", "reilly", "rockn", "roll", "quoted"],
        );
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        check("東京都", &["東京", "京都", "都"]);
        check("猫 and 犬", &["猫", "and", "犬"]);
        check("日本語text", &["日本", "本語", "語", "text"]);
        let mut kinds = Vec::new();
        each_word("東京 猫 a", |word| kinds.push(word.kind));
        assert_eq!(kinds, [Kind::Pair, Kind::Last, Kind::Single, Kind::Letters]);
    }
}
