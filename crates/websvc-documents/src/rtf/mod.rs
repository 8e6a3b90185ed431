//! Reads RTF: groups, control words, and characters in the code page of the file.

mod blocks;
mod tables;
mod tokens;

use encoding_rs::{Encoding, WINDOWS_1252};

use crate::error::DocumentError;
use crate::flow::HtmlFlow;
use crate::inline::{Position, TextStyle};
use crate::kind::DocumentKind;
use crate::limits::Limits;
use crate::office::{Images, MAX_IMAGE_BYTES};
use crate::parsed_document::{DocumentMetadata, ParsedDocument};
use blocks::Blocks;
use tables::{Tables, code_page};
use tokens::{Token, Tokens};

const KIND: DocumentKind = DocumentKind::Rtf;
/// The maximum nesting depth of groups.
const MAX_DEPTH: usize = 256;
/// The maximum nesting depth of notes.
const MAX_NOTES: usize = 4;

/// The destinations whose text is not content.
const IGNORED_DESTINATIONS: &[&str] = &[
    "colortbl",
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
    "annotation",
    "atnid",
    "atnauthor",
    "ftnsep",
    "ftnsepc",
    "aftnsep",
    "nonshppict",
    "falt",
    "panose",
    "pnseclvl",
    "xe",
    "tc",
];

/// Reads an RTF document.
pub(crate) fn parse(bytes: &[u8], limits: &Limits<'_>) -> Result<ParsedDocument, DocumentError> {
    let mut reader = Reader {
        states: vec![State::default()],
        pending: Vec::new(),
        encoding: WINDOWS_1252,
        tables: Tables::default(),
        default_font: None,
        metadata: DocumentMetadata::default(),
        destination_text: String::new(),
        link_url: String::new(),
        skip: 0,
        high_surrogate: None,
        images: Images::default(),
        blocks: Blocks::new(HtmlFlow::new(limits.max_output_bytes)),
    };
    let mut tokens = Tokens { bytes, position: 0 };
    let mut count = 0_u32;
    while let Some(token) = tokens.next() {
        reader.process(&token)?;
        count = count.wrapping_add(1);
        if reader.blocks.flow.is_full() || (count.is_multiple_of(4096) && (limits.stop)()) {
            break;
        }
    }
    reader.flush();
    let (html, is_full) = reader.blocks.finish();
    let mut warnings = Vec::new();
    if is_full {
        warnings.push("the text was cut off at the maximum output size".to_owned());
    }
    Ok(ParsedDocument { html, metadata: reader.metadata, warnings, ..ParsedDocument::default() })
}

/// The destination of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextDestination {
    #[default]
    Content,
    /// Text that is not content.
    Ignored,
    Fonts,
    Styles,
    Title,
    Author,
    /// The marker of a list item.
    Marker,
    /// The instruction of a field, which contains the URL of a link.
    Field,
    /// The bytes of a picture as hexadecimal digits.
    Picture,
}

/// The state of a group.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    destination: TextDestination,
    style: TextStyle,
    /// The encoding of the font.
    encoding: Option<&'static Encoding>,
    /// The number of characters after `\u` that replace it in old readers (`\uc`).
    fallback_chars: Option<usize>,
    hidden: bool,
    /// The group began with `\*`, so it is ignored if its destination is unknown.
    is_optional: bool,
    /// The group is the text of a link.
    in_link: bool,
    /// The group is a note.
    is_note: bool,
}

struct Reader {
    states: Vec<State>,
    /// The bytes of text that are not decoded yet.
    pending: Vec<u8>,
    encoding: &'static Encoding,
    tables: Tables,
    default_font: Option<i32>,
    metadata: DocumentMetadata,
    /// The text of the title, the author, a marker or a field.
    destination_text: String,
    /// The URL of the last field, if it is a link.
    link_url: String,
    /// The number of bytes to skip after a `\u` character.
    skip: usize,
    /// The first half of a character beyond 16 bits.
    high_surrogate: Option<u16>,
    images: Images,
    blocks: Blocks,
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
                self.skip = 0;
                if self.states.len() >= MAX_DEPTH {
                    return Err(DocumentError::too_large(KIND, "its groups are nested too deeply"));
                }
                let state = State { is_optional: false, in_link: false, is_note: false, ..*self.state() };
                self.states.push(state);
            }
            Token::Close => {
                self.flush();
                self.skip = 0;
                self.close();
            }
            Token::Symbol(symbol) => {
                self.flush();
                match symbol {
                    b'~' => self.text(" "),
                    b'_' => self.text("-"),
                    b'*' => self.state().is_optional = true,
                    b'\\' | b'{' | b'}' => self.text(&char::from(*symbol).to_string()),
                    // A line break after a backslash is a paragraph.
                    b'\n' | b'\r' => self.word("par", None),
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
            self.blocks.inline.end_link();
        }
        if state.is_note {
            self.blocks.end_note();
        }
        if state.destination == outer {
            return;
        }
        let text = std::mem::take(&mut self.destination_text);
        match state.destination {
            TextDestination::Title => self.metadata.title = non_empty(&text),
            TextDestination::Author => self.metadata.author = non_empty(&text),
            TextDestination::Marker => self.blocks.set_marker(&text),
            TextDestination::Picture => {
                let url = self.images.hexadecimal_url(&text);
                url.into_iter().for_each(|url| self.blocks.inline.image(&url, ""));
            }
            TextDestination::Field => {
                // HYPERLINK "https://..."
                let is_link = text.trim_start().starts_with("HYPERLINK");
                self.link_url = if is_link {
                    text.split('"').nth(1).unwrap_or_default().to_owned()
                } else {
                    String::new()
                };
            }
            TextDestination::Content
            | TextDestination::Ignored
            | TextDestination::Fonts
            | TextDestination::Styles => {}
        }
    }

    /// Decodes the pending bytes.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let bytes = std::mem::take(&mut self.pending);
            let encoding = self.state().encoding.unwrap_or(self.encoding);
            let text = encoding.decode_without_bom_handling(&bytes).0;
            self.text(&text);
        }
    }

    fn text(&mut self, text: &str) {
        let State { destination, style, hidden, .. } = *self.state();
        match destination {
            TextDestination::Content if !hidden => self.blocks.inline.text(text, style),
            TextDestination::Picture if self.destination_text.len() > 2 * MAX_IMAGE_BYTES => {}
            TextDestination::Title
            | TextDestination::Author
            | TextDestination::Field
            | TextDestination::Marker
            | TextDestination::Picture => {
                self.destination_text.push_str(text);
            }
            TextDestination::Fonts => self.tables.name(text, true),
            TextDestination::Styles => self.tables.name(text, false),
            TextDestination::Content | TextDestination::Ignored => {}
        }
    }

    fn word(&mut self, word: &str, number: Option<i32>) {
        let destination = self.state().destination;
        match destination {
            TextDestination::Fonts => self.tables.font_word(word, number.unwrap_or(0)),
            TextDestination::Styles => self.tables.style_word(word, number.unwrap_or(0)),
            TextDestination::Ignored => {}
            _ if self.style_word(word, number) || self.character_word(word) => return,
            TextDestination::Content if self.block_word(word, number) => return,
            _ => {}
        }
        match word {
            "uc" => {
                self.state().fallback_chars = Some(usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(8));
            }
            "u" => self.unicode(number.unwrap_or(0)),
            "ansicpg" => self.encoding = code_page(number.unwrap_or(1252)),
            "mac" => self.encoding = code_page(10000),
            "deff" => self.default_font = number,
            _ => self.begin_destination(word),
        }
    }

    /// Reads a control word of the style of characters. Returns `false` for other words.
    fn style_word(&mut self, word: &str, number: Option<i32>) -> bool {
        let is_on = number != Some(0);
        match word {
            "b" => self.state().style.bold = is_on,
            "i" => self.state().style.italic = is_on,
            "strike" | "striked" => self.state().style.strike = is_on,
            "super" => {
                self.state().style.position = if is_on { Position::Superscript } else { Position::Baseline }
            }
            "sub" => {
                self.state().style.position = if is_on { Position::Subscript } else { Position::Baseline }
            }
            "nosupersub" => self.state().style.position = Position::Baseline,
            "v" | "deleted" => self.state().hidden = is_on,
            "f" => {
                let font = number.and_then(|number| self.tables.font(number));
                let is_default = self.default_font == number;
                let state = self.state();
                state.style.code = font.is_some_and(|font| font.is_code) && !is_default;
                state.encoding = font.and_then(|font| font.encoding);
            }
            "plain" => {
                let state = self.state();
                (state.style, state.hidden) = (TextStyle::default(), false);
            }
            _ => return false,
        }
        true
    }

    /// Reads a control word that stands for a character. Returns `false` for other words.
    fn character_word(&mut self, word: &str) -> bool {
        match word {
            "emdash" => self.text("—"),
            "endash" => self.text("–"),
            "bullet" => self.text("•"),
            "lquote" => self.text("‘"),
            "rquote" => self.text("’"),
            "ldblquote" => self.text("“"),
            "rdblquote" => self.text("”"),
            "emspace" | "enspace" | "qmspace" => self.text(" "),
            _ => return false,
        }
        true
    }

    /// Reads a control word of paragraphs and tables. Returns `false` for other words.
    fn block_word(&mut self, word: &str, number: Option<i32>) -> bool {
        match word {
            "par" | "sect" | "page" => self.blocks.end_paragraph(),
            "line" => self.blocks.inline.line_break(),
            "tab" => self.blocks.tab(),
            "pard" => self.blocks.reset_paragraph(),
            "s" => {
                self.blocks.properties.heading = number.and_then(|style| self.tables.heading(style));
                self.blocks.properties.is_quote = number.is_some_and(|style| self.tables.is_quote(style));
            }
            "outlinelevel" => {
                let level = number.and_then(|level| u32::try_from(level).ok()).filter(|level| *level < 9);
                self.blocks.properties.heading =
                    level.map(|level| level + 1).or(self.blocks.properties.heading);
            }
            "ilvl" => self.blocks.properties.level = number.and_then(|level| usize::try_from(level).ok()),
            "li" | "lin" => self.blocks.properties.indent = number.unwrap_or(0),
            "fi" => self.blocks.properties.first_indent = number.unwrap_or(0),
            "intbl" => self.blocks.properties.in_table = number != Some(0),
            "cell" | "nestcell" => self.blocks.end_cell(word == "nestcell"),
            "row" => self.blocks.end_row(),
            "trowd" => self.blocks.begin_row_definition(),
            "clmrg" | "clvmrg" | "cellx" => self.blocks.cell_definition(word),
            "footnote" if self.states.len() < MAX_DEPTH && self.blocks.begin_note(MAX_NOTES) => {
                let state = self.state();
                (state.is_note, state.style, state.is_optional) = (true, TextStyle::default(), false);
            }
            "chftn" => {}
            _ => return false,
        }
        true
    }

    fn begin_destination(&mut self, word: &str) {
        match word {
            "title" => self.begin_text(TextDestination::Title),
            "author" => self.begin_text(TextDestination::Author),
            "fonttbl" => self.state().destination = TextDestination::Fonts,
            "stylesheet" => self.state().destination = TextDestination::Styles,
            "info" => self.state().destination = TextDestination::Ignored,
            "listtext" | "pntext" => self.begin_text(TextDestination::Marker),
            "pict" => self.begin_text(TextDestination::Picture),
            "fldinst" => self.begin_text(TextDestination::Field),
            "fldrslt" => {
                let url = std::mem::take(&mut self.link_url);
                self.blocks.inline.begin_link(&url);
                self.state().in_link = true;
            }
            word if IGNORED_DESTINATIONS.contains(&word) => {
                self.state().destination = TextDestination::Ignored;
            }
            // The text of shapes.
            "shppict" | "shp" | "shpinst" | "shptxt" | "pn" => self.state().is_optional = false,
            "sp" => self.state().destination = TextDestination::Ignored,
            _ if std::mem::take(&mut self.state().is_optional) => {
                self.state().destination = TextDestination::Ignored;
            }
            _ => {}
        }
    }

    fn begin_text(&mut self, destination: TextDestination) {
        self.destination_text.clear();
        self.state().destination = destination;
        self.state().is_optional = false;
    }

    fn unicode(&mut self, number: i32) {
        let state = *self.state();
        // The number is a signed 16-bit UTF-16 unit. Two units make a character beyond 16 bits.
        let unit = u16::try_from(number.rem_euclid(0x1_0000)).unwrap_or_default();
        let high = self.high_surrogate.take();
        if (0xd800..0xdc00).contains(&unit) {
            self.high_surrogate = Some(unit);
        } else {
            let character = char::decode_utf16(high.into_iter().chain([unit])).next();
            if let Some(Ok(character)) = character {
                self.text(&character.to_string());
            }
        }
        self.skip = state.fallback_chars.unwrap_or(1);
    }
}

/// Returns the trimmed text; `None` if it is empty.
fn non_empty(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
