//! Parses format codes such as `#,##0.00 "kr";[Red]-0.00` (ECMA-376, part 1, section 18.8.31).

use super::part::Part;
use super::simple::Simple;

/// The maximum length of a format code in bytes. Excel allows 255 characters.
const MAX_BYTES: usize = 1024;

/// A comparison with a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

/// A section of a format.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Section {
    pub(super) parts: Vec<Part>,
    pub(super) condition: Option<(Operator, f64)>,
    /// The format of a section that needs no more.
    pub(super) simple: Option<Simple>,
}

impl Section {
    pub(super) fn is_date(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Date(..) | Part::Elapsed(..)))
    }

    pub(super) fn is_text(&self) -> bool {
        self.parts.contains(&Part::Text)
    }

    /// Returns whether the condition holds for a number. A section without a condition is for all others.
    pub(super) fn holds(&self, number: f64) -> bool {
        let Some((operator, limit)) = self.condition else { return true };
        match operator {
            Operator::Less => number < limit,
            Operator::LessOrEqual => number <= limit,
            Operator::Equal => number == limit,
            Operator::NotEqual => number != limit,
            Operator::GreaterOrEqual => number >= limit,
            Operator::Greater => number > limit,
        }
    }

    /// Returns whether the condition holds for negative numbers only, so that the section writes their sign.
    pub(super) fn is_for_negative(&self) -> bool {
        self.condition.is_some_and(|(operator, limit)| {
            matches!(operator, Operator::Less) && limit <= 0.0
                || matches!(operator, Operator::LessOrEqual) && limit < 0.0
        })
    }
}

/// Returns the sections of a format code.
pub(super) fn parse(code: &str) -> Vec<Section> {
    let code = &code[..code.floor_char_boundary(MAX_BYTES)];
    if code.trim().is_empty() || code.eq_ignore_ascii_case("general") {
        return Vec::new();
    }
    let mut sections = vec![Section::default()];
    let mut characters = code.chars().peekable();
    while let Some(character) = characters.next() {
        if character == ';' {
            if sections.len() == 4 {
                break;
            }
            sections.push(Section::default());
            continue;
        }
        let Some(section) = sections.last_mut() else { break };
        let rest = characters.clone();
        let length = part(character, rest, section);
        for _ in 0..length {
            characters.next();
        }
    }
    for section in &mut sections {
        resolve_minutes(section);
        section.simple = Simple::new(&section.parts);
    }
    sections
}

/// Adds the part that begins with `character` to a section, and returns the number of further characters that it has.
fn part(character: char, mut rest: std::iter::Peekable<std::str::Chars<'_>>, section: &mut Section) -> usize {
    let parts = &mut section.parts;
    match character {
        '"' => {
            let text: String = rest.take_while(|inner| *inner != '"').collect();
            let length = text.chars().count() + 1;
            parts.push(Part::Literal(text));
            length
        }
        '\\' => {
            parts.extend(rest.next().map(|literal| Part::Literal(literal.to_string())));
            1
        }
        // The width of a character as space.
        '_' => {
            parts.push(Part::Literal(" ".to_owned()));
            1
        }
        // A character that fills the cell.
        '*' => 1,
        '[' => {
            let text: String = rest.take_while(|inner| *inner != ']').collect();
            bracket(&text, section);
            text.chars().count() + 1
        }
        _ => word(character, rest, parts),
    }
}

/// Adds a part without delimiters.
fn word(character: char, rest: std::iter::Peekable<std::str::Chars<'_>>, parts: &mut Vec<Part>) -> usize {
    let ahead: String =
        std::iter::once(character).chain(rest).take(7).collect::<String>().to_ascii_lowercase();
    let repeated = ahead.chars().take_while(|next| *next == character.to_ascii_lowercase()).count();
    match character {
        '0' | '#' | '?' => parts.push(Part::Digit(character)),
        '.' => parts.push(Part::Point),
        ',' => parts.push(Part::Comma),
        '%' => parts.push(Part::Percent),
        '/' => parts.push(Part::Slash),
        '@' => parts.push(Part::Text),
        'E' | 'e' if ahead.starts_with("e+") || ahead.starts_with("e-") => {
            parts.push(Part::Exponent(ahead.starts_with("e+")));
            return 1;
        }
        'G' | 'g' if ahead.starts_with("general") => {
            parts.push(Part::General);
            return 6;
        }
        'A' | 'a' if ahead.starts_with("am/pm") => {
            parts.push(Part::Half(true));
            return 4;
        }
        'A' | 'a' if ahead.starts_with("a/p") => {
            parts.push(Part::Half(false));
            return 2;
        }
        'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' => {
            parts.push(Part::Date(character.to_ascii_lowercase(), repeated));
            return repeated - 1;
        }
        other => parts.push(Part::Literal(other.to_string())),
    }
    0
}

/// Reads the content of brackets: a currency, an elapsed time, a condition or a color.
fn bracket(text: &str, section: &mut Section) {
    if let Some(currency) = text.strip_prefix('$') {
        let symbol = currency.split('-').next().unwrap_or_default();
        if !symbol.is_empty() {
            section.parts.push(Part::Literal(symbol.to_owned()));
        }
        return;
    }
    let lower = text.to_ascii_lowercase();
    let mut letters = lower.chars();
    if let Some(first @ ('h' | 'm' | 's')) = letters.next()
        && letters.all(|letter| letter == first)
    {
        section.parts.push(Part::Elapsed(first, lower.len()));
        return;
    }
    const OPERATORS: [(&str, Operator); 6] = [
        ("<=", Operator::LessOrEqual),
        ("<>", Operator::NotEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("=", Operator::Equal),
    ];
    section.condition = section.condition.or_else(|| {
        OPERATORS.into_iter().find_map(|(sign, operator)| {
            let limit = text.strip_prefix(sign)?.trim().parse().ok()?;
            Some((operator, limit))
        })
    });
}

/// Tells minutes from months: `m` after hours or before seconds is minutes, written as `i`.
fn resolve_minutes(section: &mut Section) {
    let times: Vec<usize> = (0..section.parts.len())
        .filter(|index| matches!(section.parts[*index], Part::Date(..) | Part::Elapsed(..)))
        .collect();
    let letter = |part: &Part| match part {
        Part::Date(letter, _) | Part::Elapsed(letter, _) => *letter,
        _ => ' ',
    };
    for (position, index) in times.iter().enumerate() {
        let before = position.checked_sub(1).map(|before| letter(&section.parts[times[before]]));
        let after = times.get(position + 1).map(|after| letter(&section.parts[*after]));
        if let Part::Date(letter @ 'm', 1..=2) = &mut section.parts[*index]
            && (before == Some('h') || after == Some('s'))
        {
            *letter = 'i';
        }
    }
}

/// Returns the code of a built-in format (ECMA-376, part 1, section 18.8.30).
pub(super) fn built_in(id: u32) -> &'static str {
    match id {
        1 => "0",
        2 => "0.00",
        3 => "#,##0",
        4 => "#,##0.00",
        5 | 6 => "\"$\"#,##0_);(\"$\"#,##0)",
        7 | 8 => "\"$\"#,##0.00_);(\"$\"#,##0.00)",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        14 | 15 | 27..=31 | 34..=36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
        16 => "d-mmm",
        17 | 55 | 56 => "mmm-yy",
        18 => "h:mm AM/PM",
        19 => "h:mm:ss AM/PM",
        20 | 32 => "h:mm",
        21 | 33 => "h:mm:ss",
        22 => "yyyy-mm-dd h:mm",
        37 | 38 => "#,##0_);(#,##0)",
        39 | 40 => "#,##0.00_);(#,##0.00)",
        41 => "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)",
        42 => "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)",
        43 => "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
        44 => "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        48 => "##0.0E+0",
        49 => "@",
        _ => "General",
    }
}
