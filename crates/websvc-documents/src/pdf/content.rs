//! Interprets the content streams of a page: the positions of glyphs, the straight lines, and the area of images.
//!
//! Only the instructions that matter for text are interpreted. Colors, clip paths, shadings and image data are
//! ignored. So reading a page costs a fraction of rendering it, and no image decoder processes hostile bytes.

use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Dict, Name, Object, Stream};
use hayro_syntax::page::{Page, Resources};

use super::font::Fonts;
use super::forms::{self, Appearance};
use super::geometry::{Matrix, Rect};
use super::glyphs::{Glyph, PageContent, PlacedGlyph, TextState, place_glyph, spread};
use super::graphics::Paths;
use super::strings;

/// The maximum nesting depth of forms.
const MAX_FORM_DEPTH: u32 = 12;
/// The maximum number of saved graphics states.
const MAX_SAVED_STATES: usize = 256;
/// The maximum number of instructions of a page. The instructions of a form count each time that it is drawn.
const MAX_INSTRUCTIONS: u64 = 4_000_000;
/// The number of instructions that drawing a form counts as, in addition to its own instructions.
const FORM_COST: u64 = 200;
/// The maximum number of glyphs of a page.
const MAX_GLYPHS: usize = 400_000;
/// The number of instructions between two calls of the stop function.
const STOP_CHECK_INTERVAL: u64 = 8192;

/// The mean width of a character of a field's value, in ems.
const VALUE_ADVANCE: f64 = 0.5;

fn is_curve(instruction: &TypedInstruction<'_, '_>) -> bool {
    matches!(
        instruction,
        TypedInstruction::CubicTo(_) | TypedInstruction::CubicStartTo(_) | TypedInstruction::CubicEndTo(_)
    )
}

/// Reads the content of a page.
pub(super) fn read<'a>(page: &Page<'a>, fonts: &mut Fonts<'a>, stop: &dyn Fn() -> bool) -> PageContent {
    let (width, height) = page.render_dimensions();
    let mut reader = Reader {
        fonts,
        content: PageContent { width, height, ..PageContent::default() },
        stop,
        instructions: 0,
        next_stop_check: STOP_CHECK_INTERVAL,
        depth: 0,
        marks: Vec::new(),
        stopped: false,
    };
    let mut state = GraphicsState::new(Matrix(page.initial_transform(true).as_coeffs()));
    reader.run(page.typed_operations(), page.resources(), &mut state);
    let mut state = GraphicsState::new(Matrix(page.initial_transform(true).as_coeffs()));
    for (appearance, area) in forms::appearances(page) {
        match appearance {
            Appearance::Drawn(form) => reader.draw_into(&form, area, page.resources(), &state),
            Appearance::Text(text) => reader.show_value(&text, area, &mut state),
        }
    }
    let mut content = reader.content;
    content.cut_off = reader.stopped;
    content
}

/// The part of the graphics state that matters for text.
#[derive(Debug, Clone)]
struct GraphicsState {
    ctm: Matrix,
    text: TextState,
}

impl GraphicsState {
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

/// An open marked-content sequence.
struct MarkedContent {
    artifact: bool,
    mcid: Option<u32>,
    /// The index of its first glyph, and the text that replaces its glyphs (`ActualText`).
    actual_text: Option<(usize, String)>,
}

struct Reader<'a, 'r> {
    fonts: &'r mut Fonts<'a>,
    content: PageContent,
    stop: &'r dyn Fn() -> bool,
    instructions: u64,
    next_stop_check: u64,
    depth: u32,
    marks: Vec<MarkedContent>,
    stopped: bool,
}

impl<'a> Reader<'a, '_> {
    fn run(&mut self, mut instructions: TypedIter<'_>, resources: &Resources<'a>, state: &mut GraphicsState) {
        let outer_marks = self.marks.len();
        let mut saved = Vec::new();
        let mut paths = Paths::default();
        while let Some(instruction) = instructions.next() {
            if !self.should_continue() {
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
                        self.draw_xobject(&stream, resources, state);
                    }
                }
                TypedInstruction::InlineImage(_) => self.add_image(&state.ctm),
                TypedInstruction::BeginMarkedContent(mark) => self.begin_marked_content(mark.0, None),
                TypedInstruction::BeginMarkedContentWithProperties(mark) => {
                    let named = mark.1.clone().into_name().and_then(|name| resources.properties.get(name));
                    self.begin_marked_content(mark.0, named.or_else(|| mark.1.clone().into_dict()).as_ref());
                }
                TypedInstruction::EndMarkedContent(_) if self.marks.len() > outer_marks => {
                    self.end_marked_content();
                }
                other => {
                    self.content.curves += usize::from(is_curve(&other));
                    if !paths.apply(&other, &state.ctm, &mut self.content.shapes) {
                        self.text_instruction(&other, resources, state);
                    }
                }
            }
        }
        while self.marks.len() > outer_marks {
            self.end_marked_content();
        }
    }

    /// Counts an instruction. Returns `false` if a limit was reached or the caller stopped the reader.
    fn should_continue(&mut self) -> bool {
        self.instructions += 1;
        let limit_reached = self.instructions > MAX_INSTRUCTIONS || self.content.glyphs.len() > MAX_GLYPHS;
        let check_stop = self.instructions >= self.next_stop_check;
        if check_stop {
            self.next_stop_check = self.instructions + STOP_CHECK_INTERVAL;
        }
        if limit_reached || (check_stop && (self.stop)()) {
            self.stopped = true;
        }
        !self.stopped
    }

    /// Executes a text instruction, and ignores others.
    fn text_instruction(
        &mut self,
        instruction: &TypedInstruction<'_, '_>,
        resources: &Resources<'a>,
        state: &mut GraphicsState,
    ) {
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
            TypedInstruction::ShowText(shown) => self.show_text(shown.0.as_bytes(), state),
            TypedInstruction::ShowTexts(shown) => {
                for part in shown.0.iter::<Object<'_>>() {
                    match part {
                        Object::Number(number) => self.adjust_position(number.as_f64(), state),
                        Object::String(string) => self.show_text(string.as_bytes(), state),
                        _ => {}
                    }
                }
            }
            TypedInstruction::NextLineAndShowText(shown) => {
                state.next_line(0.0, -state.text.leading);
                self.show_text(shown.0.as_bytes(), state);
            }
            TypedInstruction::ShowTextWithParameters(shown) => {
                text.word_space = shown.0.as_f64();
                text.char_space = shown.1.as_f64();
                state.next_line(0.0, -state.text.leading);
                self.show_text(shown.2.as_bytes(), state);
            }
            _ => {}
        }
    }

    /// Moves the text position by thousandths of an em.
    fn adjust_position(&mut self, thousandths: f64, state: &mut GraphicsState) {
        let text = &mut state.text;
        let horizontal = text.font.is_none_or(|font| self.fonts.face(font).is_horizontal());
        let distance = -thousandths / 1000.0 * text.size;
        let (x, y) = if horizontal { (distance * text.scale, 0.0) } else { (0.0, distance) };
        text.matrix = text.matrix.after(&Matrix::translation(x, y));
    }

    /// Places the glyphs of a string.
    fn show_text(&mut self, bytes: &[u8], state: &mut GraphicsState) {
        let text = &mut state.text;
        if text.font.is_none() {
            text.font = self.fonts.fallback();
        }
        let Some(font) = text.font else { return };
        let face = self.fonts.face(font);
        let (horizontal, style, em) = (face.is_horizontal(), face.style, face.em);
        let artifact = self.marks.iter().any(|mark| mark.artifact);
        let mcid = self.marks.iter().rev().find_map(|mark| mark.mcid).filter(|_| self.depth == 0);
        let number = u16::try_from(font).unwrap_or(u16::MAX);
        let mut position = 0;
        while position < bytes.len() && self.content.glyphs.len() <= MAX_GLYPHS {
            let (code, length) = face.read_code(bytes, position);
            position += length;
            let code_is_space = code == 32 && length == 1;
            let code = face.code(code);
            let space = text.char_space + if code_is_space { text.word_space } else { 0.0 };
            let advance = code.advance * text.size;
            if code.text.is_empty() {
                self.content.unmapped += 1;
            } else {
                let text_of_code = &code.text;
                let placed = PlacedGlyph {
                    text: text_of_code,
                    advance,
                    horizontal,
                    style,
                    em,
                    artifact,
                    font: number,
                    mcid,
                };
                place_glyph(&mut self.content, &placed, &state.ctm, text);
            }
            let (x, y) =
                if horizontal { ((advance + space) * text.scale, 0.0) } else { (0.0, advance + space) };
            text.matrix = text.matrix.after(&Matrix::translation(x, y));
        }
    }

    fn draw_xobject(&mut self, stream: &Stream<'a>, outer: &Resources<'a>, state: &GraphicsState) {
        let dict = stream.dict();
        let subtype = dict.get::<Name<'_>>(b"Subtype");
        match subtype.as_ref().map(Name::as_str) {
            Some("Image") => self.add_image(&state.ctm),
            Some("Form") if self.depth < MAX_FORM_DEPTH => {
                let Ok(decoded) = stream.decoded_data() else { return };
                // Decoding also counts, because a form is decoded each time that it is drawn.
                self.instructions += FORM_COST + decoded.len() as u64 / 64;
                let matrix = dict.get::<[f64; 6]>(b"Matrix").map_or(Matrix::IDENTITY, Matrix);
                let form_resources = dict.get::<Dict<'_>>(b"Resources").map(Resources::new);
                let mut inner = GraphicsState { ctm: state.ctm.after(&matrix), text: state.text.clone() };
                self.depth += 1;
                self.run(TypedIter::new(&decoded), form_resources.as_ref().unwrap_or(outer), &mut inner);
                self.depth -= 1;
            }
            _ => {}
        }
    }

    /// Draws a form into a rectangle (PDF 32000-1, 12.5.5).
    fn draw_into(
        &mut self,
        form: &Stream<'a>,
        [x0, y0, x1, y1]: [f64; 4],
        outer: &Resources<'a>,
        state: &GraphicsState,
    ) {
        let dict = form.dict();
        let [left, bottom, right, top] = dict.get::<[f64; 4]>(b"BBox").unwrap_or([x0, y0, x1, y1]);
        let matrix = dict.get::<[f64; 6]>(b"Matrix").map_or(Matrix::IDENTITY, Matrix);
        let bounds = matrix.apply_to_rect(left, bottom, right, top);
        let scale = |length: f64, bound: f32| if bound > 0.0 { length / f64::from(bound) } else { 1.0 };
        let (a, d) = (scale((x1 - x0).abs(), bounds.width()), scale((y1 - y0).abs(), bounds.height()));
        let (x, y) = (x0.min(x1) - a * f64::from(bounds.x0), y0.min(y1) - d * f64::from(bounds.y0));
        let state = GraphicsState::new(state.ctm.after(&Matrix([a, 0.0, 0.0, d, x, y])));
        self.draw_xobject(form, outer, &state);
    }

    /// Shows the value of a field in its rectangle, line by line.
    fn show_value(&mut self, text: &str, [x0, y0, x1, y1]: [f64; 4], state: &mut GraphicsState) {
        let Some(font) = self.fonts.fallback() else { return };
        let style = self.fonts.face(font).style;
        let lines: Vec<&str> = text.lines().collect();
        let height = (y1 - y0).abs() / lines.len().max(1) as f64;
        state.text.size = (height * 0.75).clamp(4.0, 12.0);
        for (line, index) in lines.into_iter().zip(1..) {
            let baseline = y0.max(y1) - height * f64::from(index) + 0.28 * height;
            state.text.matrix = Matrix::translation(x0.min(x1) + 2.0, baseline);
            let room = MAX_GLYPHS.saturating_sub(self.content.glyphs.len());
            for character in line.chars().take(room) {
                let mut buffer = [0; 4];
                let text = character.encode_utf8(&mut buffer);
                let advance = VALUE_ADVANCE * state.text.size;
                let placed = PlacedGlyph {
                    text,
                    advance,
                    horizontal: true,
                    style,
                    em: 1.0,
                    artifact: false,
                    font: u16::MAX,
                    mcid: None,
                };
                place_glyph(&mut self.content, &placed, &state.ctm, &state.text);
                state.text.matrix = state.text.matrix.after(&Matrix::translation(advance, 0.0));
            }
        }
    }

    fn add_image(&mut self, ctm: &Matrix) {
        let area = ctm.apply_to_rect(0.0, 0.0, 1.0, 1.0);
        let page = (self.content.width * self.content.height).max(1.0);
        self.content.image_share += area.width() * area.height() / page;
    }

    fn begin_marked_content(&mut self, tag: &Name<'_>, properties: Option<&Dict<'_>>) {
        let actual_text = properties.and_then(|properties| {
            let text = properties.get::<hayro_syntax::object::String<'_>>(b"ActualText")?;
            Some((self.content.glyphs.len(), strings::decode_text(text.as_bytes())))
        });
        let mcid = properties.and_then(|properties| properties.get::<u32>(b"MCID"));
        self.marks.push(MarkedContent { artifact: tag.as_str() == "Artifact", mcid, actual_text });
    }

    fn end_marked_content(&mut self) {
        let Some(MarkedContent { actual_text: Some((start, text)), .. }) = self.marks.pop() else { return };
        let glyphs = &mut self.content.glyphs;
        let Some(replaced) = glyphs.get(start..) else { return };
        let Some(first) = replaced.first().copied() else { return };
        // Replacement text for several lines cannot be positioned, so the glyphs stay.
        if replaced
            .iter()
            .any(|glyph| (glyph.y - first.y).abs() > first.size || glyph.rotation != first.rotation)
        {
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
