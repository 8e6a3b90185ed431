//! Rich text: groups, control words and characters in the code page of the file.

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Inline, Role, Table, TextStyle};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed_document::{DocumentMetadata, ParsedDocument};

const KIND: DocumentKind = DocumentKind::Rtf;
/// Groups nest at most so deep.
const MAX_DEPTH: usize = 256;

/// Groups whose text is no content.
const PASSED_OVER: &[&str] = &[
    "fonttbl",
    "colortbl",
    "stylesheet",
    "pict",
    "object",
    "themedata",
    "datastore",
    "latentstyles",
    "listtable",
    "listoverridetable",
    "rsidtbl",
    "generator",
    "header",
    "headerl",
    "headerr",
    "headerf",
    "footer",
    "footerl",
    "footerr",
    "footerf",
    "xmlnstbl",
    "revtbl",
    "filetbl",
    "mmathPr",
    "bkmkstart",
    "bkmkend",
    "private",
];

/// Reads a rich text.
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut reader = Reader {
        states: vec![State::default()],
        inline: Inline::default(),
        pending: Vec::new(),
        encoding: WINDOWS_1252,
        about: DocumentMetadata::default(),
        info: String::new(),
        list: false,
        cells: Vec::new(),
        table: None,
        link: String::new(),
        skip: 0,
        flow: HtmlFlow::new(limits.max_output_bytes),
    };
    let mut tokens = Tokens { bytes, at: 0 };
    while let Some(token) = tokens.next() {
        reader.take(&token)?;
        if reader.flow.is_full() || (tokens.at.is_multiple_of(4096) && (limits.stop)()) {
            break;
        }
    }
    reader.end_paragraph();
    reader.end_table();
    let (html, is_full) = reader.flow.finish();
    let mut warnings = Vec::new();
    if is_full {
        warnings.push("the text was cut off at the largest size of an answer".to_owned());
    }
    Ok(ParsedDocument { html, about: reader.about, pages: None, warnings })
}

enum Token<'t> {
    Open,
    Close,
    Word(&'t str, Option<i32>),
    /// A sign such as `\~`.
    Sign(u8),
    Byte(u8),
}

struct Tokens<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Tokens<'t> {
    fn next(&mut self) -> Option<Token<'t>> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'{' => Token::Open,
            b'}' => Token::Close,
            b'\\' => self.control()?,
            b'\r' | b'\n' => return self.skip_breaks(),
            other => Token::Byte(other),
        })
    }

    fn skip_breaks(&mut self) -> Option<Token<'t>> {
        while matches!(self.bytes.get(self.at), Some(b'\r' | b'\n')) {
            self.at += 1;
        }
        self.next()
    }

    fn control(&mut self) -> Option<Token<'t>> {
        let first = *self.bytes.get(self.at)?;
        if first == b'\'' {
            let digits = self.bytes.get(self.at + 1..self.at + 3)?;
            self.at += 3;
            let text = std::str::from_utf8(digits).unwrap_or_default();
            return Some(u8::from_str_radix(text, 16).map_or(Token::Sign(b'\''), Token::Byte));
        }
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            return Some(Token::Sign(first));
        }
        let word = self.taken(u8::is_ascii_alphabetic);
        let start = self.at;
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        self.taken(u8::is_ascii_digit);
        let number = std::str::from_utf8(&self.bytes[start..self.at]).ok().and_then(|text| text.parse().ok());
        if self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        Some(Token::Word(word, number))
    }

    fn taken(&mut self, belongs: fn(&u8) -> bool) -> &'t str {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(belongs) {
            self.at += 1;
        }
        std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default()
    }
}

/// Destination of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextDestination {
    #[default]
    Content,
    Nowhere,
    Title,
    Author,
    /// The sign before an item of a list.
    Marker,
    /// Instruction of a field; for links, the address.
    Field,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    place: TextDestination,
    look: TextStyle,
    /// So many characters after `\u` stand for it in old readers.
    fallback: Option<usize>,
    heading: Option<u32>,
    hidden: bool,
    /// The group began with `\*`: what is not known is to be passed over.
    optional: bool,
    /// The group holds a link.
    link: bool,
}

struct Reader {
    states: Vec<State>,
    inline: Inline,
    /// Bytes of characters that are not decoded yet.
    pending: Vec<u8>,
    encoding: &'static Encoding,
    about: DocumentMetadata,
    info: String,
    list: bool,
    cells: Vec<String>,
    table: Option<Table>,
    link: String,
    /// So many characters are passed over.
    skip: usize,
    flow: HtmlFlow,
}

impl Reader {
    fn state(&mut self) -> &mut State {
        if self.states.is_empty() {
            self.states.push(State::default());
        }
        let last = self.states.len() - 1;
        &mut self.states[last]
    }

    fn take(&mut self, token: &Token<'_>) -> Result<(), DocumentError> {
        match token {
            Token::Byte(byte) => {
                if self.skip > 0 {
                    self.skip -= 1;
                } else {
                    self.pending.push(*byte);
                }
                return Ok(());
            }
            Token::Open => {
                self.flush();
                if self.states.len() >= MAX_DEPTH {
                    return Err(DocumentError::too_large(KIND, "its groups nest too deeply"));
                }
                let state = State { optional: false, link: false, ..*self.state() };
                self.states.push(state);
            }
            Token::Close => {
                self.flush();
                self.close();
            }
            Token::Sign(sign) => {
                self.flush();
                match sign {
                    b'~' => self.text(" "),
                    b'_' => self.text("-"),
                    b'*' => self.state().optional = true,
                    b'\\' | b'{' | b'}' => self.text(&char::from(*sign).to_string()),
                    _ => {}
                }
            }
            Token::Word(word, number) => {
                self.flush();
                self.word(word, *number);
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some(state) = self.states.pop() else { return };
        let outer = self.state().place;
        if state.link {
            self.inline.end_link();
        }
        if state.place != outer {
            match state.place {
                TextDestination::Title => self.about.title = some(&std::mem::take(&mut self.info)),
                TextDestination::Author => self.about.author = some(&std::mem::take(&mut self.info)),
                TextDestination::Field => {
                    // HYPERLINK "https://..."
                    let field = std::mem::take(&mut self.info);
                    let is_link = field.trim_start().starts_with("HYPERLINK");
                    self.link = if is_link {
                        field.split('"').nth(1).unwrap_or_default().to_owned()
                    } else {
                        String::new()
                    };
                }
                TextDestination::Content | TextDestination::Nowhere | TextDestination::Marker => {}
            }
        }
    }

    /// Decodes the bytes that were collected.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let bytes = std::mem::take(&mut self.pending);
            let text = self.encoding.decode_without_bom_handling(&bytes).0;
            self.text(&text);
        }
    }

    fn text(&mut self, text: &str) {
        let State { place, look, hidden, .. } = *self.state();
        match place {
            TextDestination::Content if !hidden => self.inline.text(text, look),
            TextDestination::Title | TextDestination::Author | TextDestination::Field => {
                self.info.push_str(text);
            }
            TextDestination::Marker => self.list = true,
            TextDestination::Content | TextDestination::Nowhere => {}
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        let is_on = number != Some(0);
        match word {
            "par" | "sect" | "page" => self.end_paragraph(),
            "line" => self.inline.line_break(),
            "tab" => self.text(" "),
            "emdash" => self.text("—"),
            "endash" => self.text("–"),
            "bullet" => self.text("•"),
            "lquote" => self.text("‘"),
            "rquote" => self.text("’"),
            "ldblquote" => self.text("“"),
            "rdblquote" => self.text("”"),
            "b" => self.state().look.bold = is_on,
            "i" => self.state().look.italic = is_on,
            "strike" => self.state().look.strike = is_on,
            "v" => self.state().hidden = is_on,
            "plain" => self.state().look = TextStyle::default(),
            "pard" => self.state().heading = None,
            "outlinelevel" => {
                let level = number.and_then(|level| u32::try_from(level).ok()).filter(|level| *level < 9);
                self.state().heading = level.map(|level| level + 1);
            }
            "uc" => self.state().fallback = Some(usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(8)),
            "u" => self.unicode(number.unwrap_or(0)),
            "ansicpg" => self.code_page(number.unwrap_or(1252)),
            "cell" => {
                let cell = std::mem::take(&mut self.inline).finish();
                self.cells.push(cell);
            }
            "row" => self.end_row(),
            _ => self.destination(word),
        }
    }

    fn destination(&mut self, word: &str) {
        match word {
            "title" => self.state().place = TextDestination::Title,
            "author" => self.state().place = TextDestination::Author,
            "info" => self.state().place = TextDestination::Nowhere,
            "listtext" | "pntext" => self.state().place = TextDestination::Marker,
            "fldinst" => self.state().place = TextDestination::Field,
            "fldrslt" => {
                let link = std::mem::take(&mut self.link);
                self.inline.begin_link(&link);
                self.state().link = true;
            }
            word if PASSED_OVER.contains(&word) => self.state().place = TextDestination::Nowhere,
            _ if std::mem::take(&mut self.state().optional) => self.state().place = TextDestination::Nowhere,
            _ => {}
        }
    }

    fn unicode(&mut self, number: i32) {
        let state = *self.state();
        // Written as a signed number of 16 bits; pairs for what is beyond are left to their fallback.
        let unit = number.rem_euclid(0x1_0000);
        if let Some(character) = u32::try_from(unit).ok().and_then(char::from_u32) {
            self.text(&character.to_string());
        }
        self.skip = state.fallback.unwrap_or(1);
    }

    fn code_page(&mut self, number: i32) {
        let label = match number {
            932 => "shift_jis".to_owned(),
            936 => "gbk".to_owned(),
            949 => "euc-kr".to_owned(),
            950 => "big5".to_owned(),
            number => format!("windows-{number}"),
        };
        self.encoding = Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252);
    }

    fn end_paragraph(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        let heading = self.state().heading;
        let role = match (heading, std::mem::take(&mut self.list)) {
            (Some(level), _) => Role::Heading(level),
            (None, true) => Role::Item { depth: 0, ordered: false },
            (None, false) => Role::Body,
        };
        if !inline.is_empty() {
            self.end_table();
            self.flow.paragraph(role, inline);
        }
    }

    fn end_row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let table = self.table.get_or_insert_with(Table::default);
        table.row();
        cells.into_iter().for_each(|cell| table.cell(cell, 1));
    }

    fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            self.flow.block(&table.finish());
        }
    }
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
