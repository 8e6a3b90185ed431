//! Reads RTF: groups, control words, and characters in the code page of the file.

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::error::DocumentError;
use crate::flow::{HtmlFlow, Inline, Role, Table, TextStyle};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::parsed_document::{DocumentMetadata, ParsedDocument};

const KIND: DocumentKind = DocumentKind::Rtf;
/// The maximum nesting depth of groups.
const MAX_DEPTH: usize = 256;

/// The destinations whose text is not content.
const IGNORED_DESTINATIONS: &[&str] = &[
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

/// Reads an RTF document.
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut reader = Reader {
        states: vec![State::default()],
        inline: Inline::default(),
        pending: Vec::new(),
        encoding: WINDOWS_1252,
        metadata: DocumentMetadata::default(),
        destination_text: String::new(),
        is_item: false,
        cells: Vec::new(),
        table: None,
        link_url: String::new(),
        skip: 0,
        flow: HtmlFlow::new(limits.max_output_bytes),
    };
    let mut tokens = Tokens { bytes, position: 0 };
    while let Some(token) = tokens.next() {
        reader.process(&token)?;
        if reader.flow.is_full() || (tokens.position.is_multiple_of(4096) && (limits.stop)()) {
            break;
        }
    }
    reader.end_paragraph();
    reader.end_table();
    let (html, is_full) = reader.flow.finish();
    let mut warnings = Vec::new();
    if is_full {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    Ok(ParsedDocument {
        html,
        page_html: None,
        layout_html: None,
        metadata: reader.metadata,
        pages: None,
        warnings,
    })
}

enum Token<'t> {
    Open,
    Close,
    Word(&'t str, Option<i32>),
    /// A control symbol such as `\~`.
    Symbol(u8),
    Byte(u8),
}

struct Tokens<'t> {
    bytes: &'t [u8],
    position: usize,
}

impl<'t> Tokens<'t> {
    fn next(&mut self) -> Option<Token<'t>> {
        let byte = *self.bytes.get(self.position)?;
        self.position += 1;
        Some(match byte {
            b'{' => Token::Open,
            b'}' => Token::Close,
            b'\\' => self.control()?,
            b'\r' | b'\n' => return self.skip_breaks(),
            other => Token::Byte(other),
        })
    }

    fn skip_breaks(&mut self) -> Option<Token<'t>> {
        while matches!(self.bytes.get(self.position), Some(b'\r' | b'\n')) {
            self.position += 1;
        }
        self.next()
    }

    fn control(&mut self) -> Option<Token<'t>> {
        let first = *self.bytes.get(self.position)?;
        if first == b'\'' {
            let digits = self.bytes.get(self.position + 1..self.position + 3)?;
            self.position += 3;
            let text = std::str::from_utf8(digits).unwrap_or_default();
            return Some(u8::from_str_radix(text, 16).map_or(Token::Symbol(b'\''), Token::Byte));
        }
        if !first.is_ascii_alphabetic() {
            self.position += 1;
            return Some(Token::Symbol(first));
        }
        let word = self.take_while(u8::is_ascii_alphabetic);
        let start = self.position;
        if self.bytes.get(self.position) == Some(&b'-') {
            self.position += 1;
        }
        self.take_while(u8::is_ascii_digit);
        let number =
            std::str::from_utf8(&self.bytes[start..self.position]).ok().and_then(|text| text.parse().ok());
        if self.bytes.get(self.position) == Some(&b' ') {
            self.position += 1;
        }
        Some(Token::Word(word, number))
    }

    fn take_while(&mut self, matches: fn(&u8) -> bool) -> &'t str {
        let start = self.position;
        while self.bytes.get(self.position).is_some_and(matches) {
            self.position += 1;
        }
        std::str::from_utf8(&self.bytes[start..self.position]).unwrap_or_default()
    }
}

/// The destination of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextDestination {
    #[default]
    Content,
    /// Text that is not content.
    Ignored,
    Title,
    Author,
    /// The marker of a list item.
    Marker,
    /// The instruction of a field, which contains the URL of a link.
    Field,
}

/// The state of a group.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    destination: TextDestination,
    style: TextStyle,
    /// The number of characters after `\u` that replace it in old readers (`\uc`).
    fallback_chars: Option<usize>,
    heading: Option<u32>,
    hidden: bool,
    /// The group began with `\*`, so it is ignored if its destination is unknown.
    is_optional: bool,
    /// The group is the text of a link.
    in_link: bool,
}

struct Reader {
    states: Vec<State>,
    inline: Inline,
    /// The bytes of text that are not decoded yet.
    pending: Vec<u8>,
    encoding: &'static Encoding,
    metadata: DocumentMetadata,
    /// The text of the title, the author or a field.
    destination_text: String,
    /// The paragraph is an item of a list.
    is_item: bool,
    cells: Vec<String>,
    table: Option<Table>,
    /// The URL of the last field, if it is a link.
    link_url: String,
    /// The number of bytes to skip after a `\u` character.
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

    fn process(&mut self, token: &Token<'_>) -> Result<(), DocumentError> {
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
                    return Err(DocumentError::too_large(KIND, "its groups are nested too deeply"));
                }
                let state = State { is_optional: false, in_link: false, ..*self.state() };
                self.states.push(state);
            }
            Token::Close => {
                self.flush();
                self.close();
            }
            Token::Symbol(symbol) => {
                self.flush();
                match symbol {
                    b'~' => self.text(" "),
                    b'_' => self.text("-"),
                    b'*' => self.state().is_optional = true,
                    b'\\' | b'{' | b'}' => self.text(&char::from(*symbol).to_string()),
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
        let outer = self.state().destination;
        if state.in_link {
            self.inline.end_link();
        }
        if state.destination != outer {
            match state.destination {
                TextDestination::Title => {
                    self.metadata.title = non_empty(&std::mem::take(&mut self.destination_text));
                }
                TextDestination::Author => {
                    self.metadata.author = non_empty(&std::mem::take(&mut self.destination_text));
                }
                TextDestination::Field => {
                    // HYPERLINK "https://..."
                    let field = std::mem::take(&mut self.destination_text);
                    let is_link = field.trim_start().starts_with("HYPERLINK");
                    self.link_url = if is_link {
                        field.split('"').nth(1).unwrap_or_default().to_owned()
                    } else {
                        String::new()
                    };
                }
                TextDestination::Content | TextDestination::Ignored | TextDestination::Marker => {}
            }
        }
    }

    /// Decodes the pending bytes.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let bytes = std::mem::take(&mut self.pending);
            let text = self.encoding.decode_without_bom_handling(&bytes).0;
            self.text(&text);
        }
    }

    fn text(&mut self, text: &str) {
        let State { destination, style, hidden, .. } = *self.state();
        match destination {
            TextDestination::Content if !hidden => self.inline.text(text, style),
            TextDestination::Title | TextDestination::Author | TextDestination::Field => {
                self.destination_text.push_str(text);
            }
            TextDestination::Marker => self.is_item = true,
            TextDestination::Content | TextDestination::Ignored => {}
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
            "b" => self.state().style.bold = is_on,
            "i" => self.state().style.italic = is_on,
            "strike" => self.state().style.strike = is_on,
            "v" => self.state().hidden = is_on,
            "plain" => self.state().style = TextStyle::default(),
            "pard" => self.state().heading = None,
            "outlinelevel" => {
                let level = number.and_then(|level| u32::try_from(level).ok()).filter(|level| *level < 9);
                self.state().heading = level.map(|level| level + 1);
            }
            "uc" => {
                self.state().fallback_chars = Some(usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(8));
            }
            "u" => self.unicode(number.unwrap_or(0)),
            "ansicpg" => self.code_page(number.unwrap_or(1252)),
            "cell" => {
                let cell = std::mem::take(&mut self.inline).finish();
                self.cells.push(cell);
            }
            "row" => self.end_row(),
            _ => self.begin_destination(word),
        }
    }

    fn begin_destination(&mut self, word: &str) {
        match word {
            "title" => self.state().destination = TextDestination::Title,
            "author" => self.state().destination = TextDestination::Author,
            "info" => self.state().destination = TextDestination::Ignored,
            "listtext" | "pntext" => self.state().destination = TextDestination::Marker,
            "fldinst" => self.state().destination = TextDestination::Field,
            "fldrslt" => {
                let url = std::mem::take(&mut self.link_url);
                self.inline.begin_link(&url);
                self.state().in_link = true;
            }
            word if IGNORED_DESTINATIONS.contains(&word) => {
                self.state().destination = TextDestination::Ignored;
            }
            _ if std::mem::take(&mut self.state().is_optional) => {
                self.state().destination = TextDestination::Ignored;
            }
            _ => {}
        }
    }

    fn unicode(&mut self, number: i32) {
        let state = *self.state();
        // The number is a signed 16-bit UTF-16 unit. Surrogates are skipped.
        let unit = number.rem_euclid(0x1_0000);
        if let Some(character) = u32::try_from(unit).ok().and_then(char::from_u32) {
            self.text(&character.to_string());
        }
        self.skip = state.fallback_chars.unwrap_or(1);
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
        let role = match (heading, std::mem::take(&mut self.is_item)) {
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

/// Returns the trimmed text; `None` if it is empty.
fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
