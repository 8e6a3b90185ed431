//! The content streams of a page: which characters stand where, which lines are drawn, how much is pictures.
//!
//! Only what text needs is interpreted. Colours, clips, shadings and pictures are passed over, so that a page costs
//! a fraction of its rendering and the decoders of pictures see no hostile byte.

use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Dict, Name, Object, Stream};
use hayro_syntax::page::{Page, Resources};

use super::font::{Fonts, Style};
use super::geometry::{Matrix, Rect};
use super::graphics::{Paths, StraightLine};
use super::strings;

/// How deep forms may nest.
const MAX_FORM_DEPTH: u32 = 12;
/// How many graphics states may be saved at one time.
const MAX_SAVED_STATES: usize = 256;
/// How many instructions a page may have, those of its forms counted as often as they are drawn.
const MAX_INSTRUCTIONS: u64 = 4_000_000;
/// As how many instructions the drawing of a form counts.
const FORM_COST: u64 = 200;
/// How many characters a page may have.
const MAX_GLYPHS: usize = 400_000;
/// After so many instructions the caller is asked whether to go on.
const ASK_EVERY: u64 = 8192;

/// A character on a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Glyph {
    pub(super) character: char,
    /// Left edge.
    pub(super) x0: f32,
    /// Right edge.
    pub(super) x1: f32,
    /// The baseline.
    pub(super) y: f32,
    /// The font size in points.
    pub(super) size: f32,
    pub(super) style: Style,
    /// Quarter turns clockwise in which it is written.
    pub(super) turn: u8,
    /// It is marked as no part of the content, such as a page number.
    pub(super) artifact: bool,
    /// The link it is part of, from 1; 0 for none.
    pub(super) link: u16,
}

/// Text and images of a page.
#[derive(Debug, Default)]
pub(super) struct PageContent {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) rules: Vec<StraightLine>,
    /// How many characters have no text.
    pub(super) unmapped: usize,
    /// Which part of the page the pictures cover, 0 to about 1.
    pub(super) picture_share: f32,
    /// How many curves are drawn.
    pub(super) curves: usize,
    pub(super) width: f32,
    pub(super) height: f32,
    /// The page was cut off because it has too many instructions.
    pub(super) cut_off: bool,
}

fn is_curve(instruction: &TypedInstruction<'_, '_>) -> bool {
    matches!(
        instruction,
        TypedInstruction::CubicTo(_) | TypedInstruction::CubicStartTo(_) | TypedInstruction::CubicEndTo(_)
    )
}

/// Reads a page.
pub(super) fn read<'a>(page: &Page<'a>, fonts: &mut Fonts<'a>, stop: &dyn Fn() -> bool) -> PageContent {
    let (width, height) = page.render_dimensions();
    let mut reader = Reader {
        fonts,
        content: PageContent { width, height, ..PageContent::default() },
        stop,
        instructions: 0,
        ask_at: ASK_EVERY,
        depth: 0,
        marks: Vec::new(),
        stopped: false,
    };
    let mut state = State::new(Matrix(page.initial_transform(true).as_coeffs()));
    reader.run(page.typed_operations(), page.resources(), &mut state);
    let mut content = reader.content;
    content.cut_off = reader.stopped;
    content
}

#[derive(Debug, Clone)]
struct State {
    ctm: Matrix,
    text: TextState,
}

#[derive(Debug, Clone)]
struct TextState {
    font: Option<usize>,
    size: f64,
    char_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
    matrix: Matrix,
    line: Matrix,
}

impl State {
    fn new(ctm: Matrix) -> Self {
        let text = TextState {
            font: None,
            size: 1.0,
            char_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
            matrix: Matrix::IDENTITY,
            line: Matrix::IDENTITY,
        };
        Self { ctm, text }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.text.line = self.text.line.after(&Matrix::translation(x, y));
        self.text.matrix = self.text.line;
    }
}

/// A piece of marked content that has not ended.
struct MarkedContent {
    artifact: bool,
    /// The text that stands for the glyphs from this one.
    actual: Option<(usize, String)>,
}

struct Reader<'a, 'r> {
    fonts: &'r mut Fonts<'a>,
    content: PageContent,
    stop: &'r dyn Fn() -> bool,
    instructions: u64,
    ask_at: u64,
    depth: u32,
    marks: Vec<MarkedContent>,
    stopped: bool,
}

impl<'a> Reader<'a, '_> {
    fn run(&mut self, mut instructions: TypedIter<'_>, resources: &Resources<'a>, state: &mut State) {
        let marks = self.marks.len();
        let mut saved = Vec::new();
        let mut paths = Paths::default();
        while let Some(instruction) = instructions.next() {
            if !self.may_go_on() {
                break;
            }
            match instruction {
                TypedInstruction::SaveState(_) if saved.len() < MAX_SAVED_STATES => saved.push(state.clone()),
                TypedInstruction::RestoreState(_) => {
                    if let Some(outer) = saved.pop() {
                        *state = outer;
                    }
                }
                TypedInstruction::Transform(t) => {
                    let numbers = [t.0, t.1, t.2, t.3, t.4, t.5].map(|number| number.as_f64());
                    state.ctm = state.ctm.after(&Matrix(numbers));
                }
                TypedInstruction::XObject(name) => {
                    if let Some(stream) = resources.get_x_object(name.0) {
                        self.draw(&stream, resources, state);
                    }
                }
                TypedInstruction::InlineImage(_) => self.picture(&state.ctm),
                TypedInstruction::BeginMarkedContent(mark) => self.begin_mark(mark.0, None),
                TypedInstruction::BeginMarkedContentWithProperties(mark) => {
                    let named = mark.1.clone().into_name().and_then(|name| resources.properties.get(name));
                    self.begin_mark(mark.0, named.or_else(|| mark.1.clone().into_dict()).as_ref());
                }
                TypedInstruction::EndMarkedContent(_) if self.marks.len() > marks => self.end_mark(),
                other => {
                    self.content.curves += usize::from(is_curve(&other));
                    if !paths.take(&other, &state.ctm, &mut self.content.rules) {
                        self.text(&other, resources, state);
                    }
                }
            }
        }
        while self.marks.len() > marks {
            self.end_mark();
        }
    }

    fn may_go_on(&mut self) -> bool {
        self.instructions += 1;
        let full = self.instructions > MAX_INSTRUCTIONS || self.content.glyphs.len() > MAX_GLYPHS;
        let asks = self.instructions >= self.ask_at;
        if asks {
            self.ask_at = self.instructions + ASK_EVERY;
        }
        if full || (asks && (self.stop)()) {
            self.stopped = true;
        }
        !self.stopped
    }

    /// Follows the instructions of text.
    fn text(&mut self, instruction: &TypedInstruction<'_, '_>, resources: &Resources<'a>, state: &mut State) {
        let text = &mut state.text;
        match instruction {
            TypedInstruction::BeginText(_) => {
                text.matrix = Matrix::IDENTITY;
                text.line = Matrix::IDENTITY;
            }
            TypedInstruction::TextFont(font) => {
                text.size = font.1.as_f64();
                text.font = match resources.get_font(font.0) {
                    Some(dict) => self.fonts.load(&dict),
                    None => self.fonts.fallback(),
                };
            }
            TypedInstruction::SetTextMatrix(t) => {
                let numbers = [t.0, t.1, t.2, t.3, t.4, t.5].map(|number| number.as_f64());
                text.line = Matrix(numbers);
                text.matrix = text.line;
            }
            TypedInstruction::CharacterSpacing(space) => text.char_space = space.0.as_f64(),
            TypedInstruction::WordSpacing(space) => text.word_space = space.0.as_f64(),
            TypedInstruction::HorizontalScaling(scale) => text.scale = scale.0.as_f64() / 100.0,
            TypedInstruction::TextLeading(leading) => text.leading = leading.0.as_f64(),
            TypedInstruction::TextRise(rise) => text.rise = rise.0.as_f64(),
            TypedInstruction::NextLine(line) => state.next_line(line.0.as_f64(), line.1.as_f64()),
            TypedInstruction::NextLineAndSetLeading(line) => {
                text.leading = -line.1.as_f64();
                state.next_line(line.0.as_f64(), line.1.as_f64());
            }
            TypedInstruction::NextLineUsingLeading(_) => state.next_line(0.0, -state.text.leading),
            TypedInstruction::ShowText(shown) => self.show(shown.0.as_bytes(), state),
            TypedInstruction::ShowTexts(shown) => {
                for part in shown.0.iter::<Object<'_>>() {
                    match part {
                        Object::Number(number) => self.adjust(number.as_f64(), state),
                        Object::String(string) => self.show(string.as_bytes(), state),
                        _ => {}
                    }
                }
            }
            TypedInstruction::NextLineAndShowText(shown) => {
                state.next_line(0.0, -state.text.leading);
                self.show(shown.0.as_bytes(), state);
            }
            TypedInstruction::ShowTextWithParameters(shown) => {
                text.word_space = shown.0.as_f64();
                text.char_space = shown.1.as_f64();
                state.next_line(0.0, -state.text.leading);
                self.show(shown.2.as_bytes(), state);
            }
            _ => {}
        }
    }

    /// Moves on by thousandths of an em.
    fn adjust(&mut self, thousandths: f64, state: &mut State) {
        let text = &mut state.text;
        let horizontal = text.font.is_none_or(|font| self.fonts.face(font).is_horizontal());
        let distance = -thousandths / 1000.0 * text.size;
        let (x, y) = if horizontal { (distance * text.scale, 0.0) } else { (0.0, distance) };
        text.matrix = text.matrix.after(&Matrix::translation(x, y));
    }

    /// Places the characters of a string.
    fn show(&mut self, bytes: &[u8], state: &mut State) {
        let text = &mut state.text;
        if text.font.is_none() {
            text.font = self.fonts.fallback();
        }
        let Some(font) = text.font else { return };
        let face = self.fonts.face(font);
        let (horizontal, style, em) = (face.is_horizontal(), face.style, face.em);
        let artifact = self.marks.iter().any(|mark| mark.artifact);
        let mut at = 0;
        while at < bytes.len() && self.content.glyphs.len() <= MAX_GLYPHS {
            let (code, length) = face.read_code(bytes, at);
            at += length;
            let code_is_space = code == 32 && length == 1;
            let code = face.code(code);
            let space = text.char_space + if code_is_space { text.word_space } else { 0.0 };
            let advance = code.advance * text.size;
            if code.text.is_empty() {
                self.content.unmapped += 1;
            } else {
                let placed = PlacedGlyph { text: &code.text, advance, horizontal, style, em, artifact };
                place(&mut self.content, &placed, &state.ctm, text);
            }
            let (x, y) =
                if horizontal { ((advance + space) * text.scale, 0.0) } else { (0.0, advance + space) };
            text.matrix = text.matrix.after(&Matrix::translation(x, y));
        }
    }

    fn draw(&mut self, stream: &Stream<'a>, outer: &Resources<'a>, state: &State) {
        let dict = stream.dict();
        let subtype = dict.get::<Name<'_>>(b"Subtype");
        match subtype.as_ref().map(Name::as_str) {
            Some("Image") => self.picture(&state.ctm),
            Some("Form") if self.depth < MAX_FORM_DEPTH => {
                let Ok(decoded) = stream.decoded_data() else { return };
                // A form is decoded each time that it is drawn.
                self.instructions += FORM_COST + decoded.len() as u64 / 64;
                let matrix = dict.get::<[f64; 6]>(b"Matrix").map_or(Matrix::IDENTITY, Matrix);
                let own = dict.get::<Dict<'_>>(b"Resources").map(Resources::new);
                let mut inner = State { ctm: state.ctm.after(&matrix), text: state.text.clone() };
                self.depth += 1;
                self.run(TypedIter::new(&decoded), own.as_ref().unwrap_or(outer), &mut inner);
                self.depth -= 1;
            }
            _ => {}
        }
    }

    fn picture(&mut self, ctm: &Matrix) {
        let area = ctm.apply_to_box(0.0, 0.0, 1.0, 1.0);
        let page = (self.content.width * self.content.height).max(1.0);
        self.content.picture_share += area.width() * area.height() / page;
    }

    fn begin_mark(&mut self, tag: &Name<'_>, properties: Option<&Dict<'_>>) {
        let actual = properties.and_then(|properties| {
            let text = properties.get::<hayro_syntax::object::String<'_>>(b"ActualText")?;
            Some((self.content.glyphs.len(), strings::decoded(text.as_bytes())))
        });
        self.marks.push(MarkedContent { artifact: tag.as_str() == "Artifact", actual });
    }

    fn end_mark(&mut self) {
        let Some(MarkedContent { actual: Some((start, text)), .. }) = self.marks.pop() else { return };
        let glyphs = &mut self.content.glyphs;
        let Some(replaced) = glyphs.get(start..) else { return };
        let Some(first) = replaced.first().copied() else { return };
        // Text for what stands on several lines cannot be placed; the glyphs know better.
        if replaced.iter().any(|glyph| (glyph.y - first.y).abs() > first.size || glyph.turn != first.turn) {
            return;
        }
        let mut area = Rect::EMPTY;
        for glyph in replaced {
            area.include(glyph.x0, glyph.y);
            area.include(glyph.x1, glyph.y);
        }
        glyphs.truncate(start);
        spread(glyphs, &text, Glyph { x0: area.x0, x1: area.x1, ..first });
    }
}

/// A code that is placed on the page.
struct PlacedGlyph<'t> {
    text: &'t str,
    advance: f64,
    horizontal: bool,
    style: Style,
    em: f64,
    artifact: bool,
}

fn place(content: &mut PageContent, placed: &PlacedGlyph<'_>, ctm: &Matrix, text: &TextState) {
    let matrix = ctm.after(&text.matrix);
    let (x, y) = matrix.apply(0.0, text.rise);
    let end =
        if placed.horizontal { (placed.advance * text.scale, text.rise) } else { (text.size, text.rise) };
    let (end_x, end_y) = matrix.apply(end.0, end.1);
    let [_, _, c, d, _, _] = matrix.0;
    let size = (text.size * placed.em).abs() * c.hypot(d);
    let (along, across) = (end_x - x, end_y - y);
    // What advances nowhere, such as an accent, is as upright as its matrix.
    let (along, across) =
        if along.hypot(across) < 1e-6 { (matrix.0[0], matrix.0[1]) } else { (along, across) };
    let turn = match (along.abs() >= across.abs(), along >= 0.0, across >= 0.0) {
        (true, true, _) => 0,
        (true, false, _) => 2,
        (false, _, true) => 1,
        (false, _, false) => 3,
    };
    let inside = (-50.0..=f64::from(content.width) + 50.0).contains(&x)
        && (-50.0..=f64::from(content.height) + 50.0).contains(&y);
    if !inside || !(0.5..2000.0).contains(&size) {
        return;
    }
    // Turned text is read in a frame that is turned with it.
    let ((x, y), (end_x, _)) = (turned(x, y, turn, content), turned(end_x, end_y, turn, content));
    let glyph = Glyph {
        character: ' ',
        x0: x as f32,
        x1: end_x.max(x) as f32,
        y: y as f32,
        size: size as f32,
        style: placed.style,
        turn,
        artifact: placed.artifact,
        link: 0,
    };
    spread(&mut content.glyphs, placed.text, glyph);
}

fn turned(x: f64, y: f64, turn: u8, content: &PageContent) -> (f64, f64) {
    let (width, height) = (f64::from(content.width), f64::from(content.height));
    match turn {
        0 => (x, y),
        1 => (y, width - x),
        2 => (width - x, height - y),
        _ => (height - y, x),
    }
}

/// Places text in the room of one glyph, each of its characters an equal part.
fn spread(glyphs: &mut Vec<Glyph>, text: &str, room: Glyph) {
    let count = text.chars().count().max(1) as f32;
    let step = (room.x1 - room.x0) / count;
    for (index, character) in text.chars().enumerate() {
        let x0 = room.x0 + step * index as f32;
        strings::plain(character, |character| {
            glyphs.push(Glyph { character, x0, x1: x0 + step, ..room });
        });
    }
}
