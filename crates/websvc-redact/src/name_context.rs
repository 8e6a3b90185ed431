//! Context that marks capitalized words as a name: greetings, bylines, signatures, mail addresses.

use crate::scan::{Scan, TextPart};

/// The evidence that makes words a name that are in no list.
pub(crate) const ENOUGH: u8 = 3;

/// The maximum distance of the context, in bytes.
const MAX_DISTANCE: usize = 96;

/// Greetings at the start of a letter.
const GREETINGS: &[&str] = &[
    "dear",
    "hi",
    "hello",
    "hey",
    "lieber",
    "liebe",
    "hallo",
    "geehrter",
    "geehrte",
    "cher",
    "chère",
    "bonjour",
    "estimado",
    "estimada",
    "querido",
    "querida",
    "hola",
    "caro",
    "cara",
    "gentile",
    "egregio",
    "ciao",
    "beste",
    "geachte",
    "prezado",
    "prezada",
    "olá",
    "hej",
    "kära",
    "käre",
    "szanowny",
    "szanowna",
    "drogi",
    "droga",
    "kjære",
    "kære",
    "hei",
    "ahoj",
    "vážený",
    "vážená",
    "kedves",
    "tisztelt",
    "dragă",
    "stimate",
    "sayın",
    "sevgili",
    "merhaba",
];

/// Words before the author of a work.
const BYLINES: &[&str] = &[
    "by", "von", "par", "por", "di", "door", "av", "af", "text", "texte", "texto", "testo", "tekst", "photo",
    "foto", "words", "author", "autor", "auteur", "autore",
];

/// Words that often precede a name, but also other words.
const WEAK_WORDS_BEFORE: &[&str] = &[
    "by",
    "said",
    "says",
    "told",
    "asked",
    "contact",
    "colleague",
    "with",
    "and",
    "attention",
    "kollege",
    "kollegin",
    "collègue",
    "compañero",
    "compañera",
    "colega",
    "collega",
    "kontakta",
    "defendant",
    "plaintiff",
    "kläger",
    "klägerin",
    "herrn",
    "named",
];

/// Verbs that often follow the name of a person.
const VERBS: &[&str] = &[
    "says",
    "said",
    "wrote",
    "writes",
    "told",
    "lives",
    "works",
    "joined",
    "explained",
    "added",
    "asked",
    "replied",
    "announced",
    "sagt",
    "sagte",
    "schrieb",
    "lebt",
    "wohnt",
    "arbeitet",
    "habite",
    "travaille",
    "vive",
    "trabaja",
    "abita",
    "lavora",
    "woont",
    "werkt",
    "mora",
    "trabalha",
    "bor",
    "arbetar",
    "mieszka",
    "pracuje",
];

/// The verbs among these for living somewhere, which are strong evidence.
const DWELLING_VERBS: &[&str] =
    &["lebt", "wohnt", "habite", "vive", "abita", "woont", "mora", "bor", "mieszka"];

/// Labels with a colon that only a name follows.
const CERTAIN_LABELS: &[&str] = &[
    "author",
    "authors",
    "autor",
    "autorin",
    "auteur",
    "autore",
    "ansprechpartner",
    "ansprechpartnerin",
    "verfasser",
    "contactpersoon",
    "photographer",
    "geschäftsführer",
    "geschäftsführerin",
    "patient",
    "beneficiary",
    "cardholder",
];

/// Closings of a letter, before the signature.
const CLOSINGS: &[&str] = &[
    "regards",
    "best",
    "wishes",
    "sincerely",
    "faithfully",
    "truly",
    "cheers",
    "thanks",
    "respectfully",
    "grüßen",
    "grüsse",
    "grüße",
    "gruß",
    "hochachtungsvoll",
    "cordialement",
    "vous",
    "salutations",
    "atentamente",
    "saludo",
    "saludos",
    "saluti",
    "saluto",
    "groet",
    "groeten",
    "hoogachtend",
    "atenciosamente",
    "cumprimentos",
    "abraço",
    "hälsningar",
    "poważaniem",
    "pozdrawiam",
    "hilsen",
    "terveisin",
    "pozdravem",
    "üdvözlettel",
    "stimă",
    "saygılarımla",
];

/// Words after a greeting or `by` that are not a person.
const NOT_PERSONS: &[&str] = &[
    "sir",
    "madam",
    "customer",
    "hiring",
    "readers",
    "reader",
    "friends",
    "colleagues",
    "all",
    "everyone",
    "members",
    "guest",
    "community",
    "popular",
    "invitation",
    "default",
    "design",
    "mail",
    "email",
    "phone",
    "subject",
    "category",
    "topic",
    "date",
    "title",
    "price",
    "name",
    "country",
    "region",
    "industry",
    "department",
    "size",
    "color",
    "colour",
    "brand",
    "role",
    "number",
    "damen",
    "herren",
    "kunde",
    "kundin",
    "favor",
    "client",
];

/// Returns whether no name starts with a word, because it introduces names or is not a person.
pub(crate) fn cannot_start_name(word: &str) -> bool {
    let lower = word.to_lowercase();
    let lists = [GREETINGS, BYLINES, WEAK_WORDS_BEFORE, CLOSINGS, NOT_PERSONS];
    lists.iter().any(|words| words.contains(&lower.as_str()))
}

/// Returns whether only a name follows a label.
pub(crate) fn is_certain_label(label: &str) -> bool {
    CERTAIN_LABELS.contains(&label.to_lowercase().as_str())
}

/// Returns the evidence in the context of a range that it is a name, from 0 to [`ENOUGH`].
pub(crate) fn evidence(scan: &mut Scan<'_>, part: TextPart, start: usize, end: usize) -> u8 {
    let right = RightContext::read(scan, part, end);
    let left = LeftContext::read(scan, part, start);
    scan.work += 2 * MAX_DISTANCE as u64;
    if right.is_mail || right.is_dwelling_verb {
        return ENOUGH;
    }
    let word = left.word.to_lowercase();
    let word = word.as_str();
    if GREETINGS.contains(&word) && (right.ends_line || right.ends_clause) {
        return ENOUGH;
    }
    if left.word_starts_line && BYLINES.contains(&word) && (right.ends_line || right.ends_cell) {
        return ENOUGH;
    }
    let mut evidence = 0;
    if left.starts_line_or_cell && (right.ends_line || right.ends_cell) {
        if left.starts_line && right.ends_line && is_signature(scan, part, start) {
            return ENOUGH;
        }
        evidence += 1;
    }
    let introduces = [WEAK_WORDS_BEFORE, GREETINGS, BYLINES].iter().any(|words| words.contains(&word));
    evidence += u8::from(introduces);
    evidence += 2 * u8::from(right.is_verb);
    evidence.min(ENOUGH)
}

/// The text before a position on its line.
struct LeftContext<'a> {
    /// True if only marks of markdown precede the position on its line or in its table cell.
    starts_line_or_cell: bool,
    /// True if only marks of markdown precede the position on its line.
    starts_line: bool,
    /// The word before the position; may be empty.
    word: &'a str,
    /// True if only marks of markdown precede that word on its line.
    word_starts_line: bool,
}

impl<'a> LeftContext<'a> {
    fn read(scan: &Scan<'a>, part: TextPart, start: usize) -> Self {
        let head = line_before(scan, part, start);
        let is_mark = |c: char| {
            matches!(c, ' ' | '*' | '_' | '"' | '“' | '„' | '«' | '(' | ':' | '#' | '>' | '-' | '+')
        };
        let bare = head.trim_end_matches(is_mark);
        let unnumbered = bare.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')'));
        let has_only_marks = unnumbered.trim_end_matches(is_mark).is_empty();
        let follows_label = head.ends_with(':') || head.ends_with(": ");
        let starts_line_or_cell = !follows_label && (has_only_marks || bare.ends_with('|'));
        let rest = bare.trim_end_matches(char::is_alphabetic);
        Self {
            starts_line_or_cell,
            starts_line: has_only_marks && starts_line_or_cell,
            word: &bare[rest.len()..],
            word_starts_line: rest.trim_end_matches(is_mark).is_empty(),
        }
    }
}

/// Returns the part of the line before a position, at most [`MAX_DISTANCE`] bytes.
fn line_before<'a>(scan: &Scan<'a>, part: TextPart, start: usize) -> &'a str {
    let from = scan.text.ceil_char_boundary(start.saturating_sub(MAX_DISTANCE).max(part.start));
    let head = &scan.text[from..start];
    head.rfind('\n').map_or(head, |at| &head[at + 1..])
}

/// The text after a position.
#[derive(Debug, Default)]
struct RightContext {
    /// True if the line ends.
    ends_line: bool,
    /// True if the table cell ends.
    ends_cell: bool,
    /// True if a comma, a colon or an exclamation mark follows.
    ends_clause: bool,
    /// True if a mail address follows.
    is_mail: bool,
    /// True if a verb that often follows names follows.
    is_verb: bool,
    /// True if a verb for living somewhere follows.
    is_dwelling_verb: bool,
}

impl RightContext {
    fn read(scan: &Scan<'_>, part: TextPart, end: usize) -> Self {
        let last = scan.text.floor_char_boundary(part.end.min(end + MAX_DISTANCE));
        let rest = scan.text[end..last].trim_start_matches(['*', '_', '"', '”', '»']);
        let bare = rest.trim_start_matches(' ');
        // A part also ends before code and links, which do not end the line.
        let is_end = bare.is_empty() && (last == scan.text.len() || scan.text[last..].starts_with('\n'));
        let verb = bare.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        Self {
            ends_line: is_end || bare.starts_with('\n'),
            ends_cell: bare.starts_with('|'),
            ends_clause: rest.starts_with([',', ':', '!']),
            is_mail: is_mail(rest),
            is_verb: rest.starts_with(' ') && VERBS.contains(&verb),
            is_dwelling_verb: rest.starts_with(' ') && DWELLING_VERBS.contains(&verb),
        }
    }
}

/// Returns whether a text starts with a mail address after a name: `Jane Doe <jane@a.test>`, `Jane Doe | jane@a.test`.
fn is_mail(rest: &str) -> bool {
    let marks =
        rest.bytes().take_while(|b| matches!(b, b' ' | b'(' | b'<' | b',' | b'|' | b'-' | b':')).count();
    let rest = &rest[marks..];
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let token = rest.split(char::is_whitespace).next().unwrap_or_default();
    let Some((name, host)) = token.split_once('@') else { return false };
    marks > 0 && !name.is_empty() && host.contains('.')
}

/// Returns whether the last line with text before a position closes a letter.
fn is_signature(scan: &Scan<'_>, part: TextPart, start: usize) -> bool {
    let from = scan.text.ceil_char_boundary(start.saturating_sub(MAX_DISTANCE).max(part.start));
    let mut lines = scan.text[from..start].rsplit('\n');
    lines.next();
    let Some(line) = lines.find(|line| !line.trim().is_empty()) else { return false };
    let line = line.trim().trim_end_matches([',', '.', '!', '*', '_', '\\']);
    let last = line.rsplit(' ').next().unwrap_or_default();
    line.split(' ').count() <= 4 && CLOSINGS.contains(&last.to_lowercase().as_str())
}
