//! Context that marks capitalized words as a name: greetings, bylines, signatures, mail addresses.

use crate::scan::{Scan, TextPart};

/// So much evidence makes a name of words that are in no list.
pub(crate) const ENOUGH: u8 = 3;

/// How far is looked, in bytes.
const REACH: usize = 96;

/// Greetings at the beginning of a letter.
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

/// Words before the author or maker of something.
const BYLINES: &[&str] = &[
    "by", "von", "par", "por", "di", "door", "av", "af", "text", "texte", "texto", "testo", "tekst", "photo",
    "foto", "words", "author", "autor", "auteur", "autore",
];

/// Words often found before a name, and before other things.
const BEFORE: &[&str] = &[
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

/// Verbs after the name of a person.
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

/// The verbs of these that say where somebody lives.
const DWELLS: &[&str] = &["lebt", "wohnt", "habite", "vive", "abita", "woont", "mora", "bor", "mieszka"];

/// Labels that only a name follows, with a colon.
const SURE_LABELS: &[&str] = &[
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
const NOBODY: &[&str] = &[
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

/// Tells whether a word announces names or is nobody's: none begins with it.
pub(crate) fn is_no_beginning(word: &str) -> bool {
    let low = word.to_lowercase();
    [GREETINGS, BYLINES, BEFORE, CLOSINGS, NOBODY].iter().any(|words| words.contains(&low.as_str()))
}

/// Tells whether nothing but a name is written behind a label.
pub(crate) fn is_sure_label(label: &str) -> bool {
    SURE_LABELS.contains(&label.to_lowercase().as_str())
}

/// Returns how much speaks for a name around a place: nothing, or up to [`ENOUGH`].
pub(crate) fn evidence(scan: &mut Scan<'_>, part: TextPart, start: usize, end: usize) -> u8 {
    let behind = RightContext::read(scan, part, end);
    let before = LeftContext::read(scan, part, start);
    scan.work += 2 * REACH as u64;
    if behind.is_mail || behind.dwells {
        return ENOUGH;
    }
    let low = before.word.to_lowercase();
    let low = low.as_str();
    if GREETINGS.contains(&low) && (behind.ends_line || behind.ends_clause) {
        return ENOUGH;
    }
    if before.word_begins_line && BYLINES.contains(&low) && (behind.ends_line || behind.ends_cell) {
        return ENOUGH;
    }
    let mut evidence = 0;
    if before.begins && (behind.ends_line || behind.ends_cell) {
        if before.is_line && behind.ends_line && is_signature(scan, part, start) {
            return ENOUGH;
        }
        evidence += 1;
    }
    evidence += u8::from(BEFORE.contains(&low) || GREETINGS.contains(&low) || BYLINES.contains(&low));
    evidence += 2 * u8::from(behind.is_verb);
    evidence.min(ENOUGH)
}

/// Text before a position on its line.
struct LeftContext<'a> {
    /// Nothing but marks of markdown.
    begins: bool,
    /// Nothing but marks of markdown, and no table.
    is_line: bool,
    word: &'a str,
    word_begins_line: bool,
}

impl<'a> LeftContext<'a> {
    fn read(scan: &Scan<'a>, part: TextPart, start: usize) -> Self {
        let head = line_before(scan, part, start);
        let is_mark = |c: char| {
            matches!(c, ' ' | '*' | '_' | '"' | '“' | '„' | '«' | '(' | ':' | '#' | '>' | '-' | '+')
        };
        let bare = head.trim_end_matches(is_mark);
        let count = bare.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')'));
        let is_line = count.trim_end_matches(is_mark).is_empty();
        let begins = !head.ends_with(':') && !head.ends_with(": ") && (is_line || bare.ends_with('|'));
        let rest = bare.trim_end_matches(char::is_alphabetic);
        Self {
            begins,
            is_line: is_line && begins,
            word: &bare[rest.len()..],
            word_begins_line: rest.trim_end_matches(is_mark).is_empty(),
        }
    }
}

/// Returns the line before a place, no longer than is looked.
fn line_before<'a>(scan: &Scan<'a>, part: TextPart, start: usize) -> &'a str {
    let mut from = start.saturating_sub(REACH).max(part.start);
    while !scan.text.is_char_boundary(from) {
        from += 1;
    }
    let head = &scan.text[from..start];
    head.rfind('\n').map_or(head, |at| &head[at + 1..])
}

/// Text after a position.
#[derive(Debug, Default)]
struct RightContext {
    ends_line: bool,
    ends_cell: bool,
    /// A comma, a colon or an exclamation mark.
    ends_clause: bool,
    is_mail: bool,
    is_verb: bool,
    dwells: bool,
}

impl RightContext {
    fn read(scan: &Scan<'_>, part: TextPart, end: usize) -> Self {
        let mut last = part.end.min(end + REACH);
        while !scan.text.is_char_boundary(last) {
            last -= 1;
        }
        let rest = scan.text[end..last].trim_start_matches(['*', '_', '"', '”', '»']);
        let bare = rest.trim_start_matches(' ');
        // A part ends before code and links: nothing is known of what follows.
        let is_end = bare.is_empty() && (last == scan.text.len() || scan.text[last..].starts_with('\n'));
        let verb = bare.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        Self {
            ends_line: is_end || bare.starts_with('\n'),
            ends_cell: bare.starts_with('|'),
            ends_clause: rest.starts_with([',', ':', '!']),
            is_mail: is_mail(rest),
            is_verb: rest.starts_with(' ') && VERBS.contains(&verb),
            dwells: rest.starts_with(' ') && DWELLS.contains(&verb),
        }
    }
}

/// Tells whether a mail address follows: `Jane Doe <jane@a.test>`, `Jane Doe | jane@a.test`.
fn is_mail(rest: &str) -> bool {
    let marks =
        rest.bytes().take_while(|b| matches!(b, b' ' | b'(' | b'<' | b',' | b'|' | b'-' | b':')).count();
    let rest = &rest[marks..];
    let rest = rest.strip_prefix("at ").unwrap_or(rest);
    let token = rest.split(char::is_whitespace).next().unwrap_or_default();
    let Some((name, host)) = token.split_once('@') else { return false };
    marks > 0 && !name.is_empty() && host.contains('.')
}

/// Tells whether the last line above with a text closes a letter.
fn is_signature(scan: &Scan<'_>, part: TextPart, start: usize) -> bool {
    let mut from = start.saturating_sub(REACH).max(part.start);
    while !scan.text.is_char_boundary(from) {
        from += 1;
    }
    let mut lines = scan.text[from..start].rsplit('\n');
    lines.next();
    let Some(line) = lines.find(|line| !line.trim().is_empty()) else { return false };
    let line = line.trim().trim_end_matches([',', '.', '!', '*', '_', '\\']);
    let last = line.rsplit(' ').next().unwrap_or_default();
    line.split(' ').count() <= 4 && CLOSINGS.contains(&last.to_lowercase().as_str())
}
