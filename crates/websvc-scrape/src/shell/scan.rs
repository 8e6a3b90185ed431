//! A scan over the source of a page that collects evidence of where its content comes from.
//!
//! It builds no tree. A stack of the open elements is enough to distinguish words of the content from words of the
//! chrome, and to find elements without content.

use super::element::{Counts, Element, Region, Tag, is_block, is_void};
use super::names;
use super::script::{Script, ScriptEvidence, analyze_scripts};
use crate::visible::{SourceToken, is_named, scan_tags};

/// The maximum number of words of content of a shell page. The scan ends when there are more.
pub(super) const MAX_WORDS: usize = 150;

/// The maximum number of words of an element without content, which may have a title or the name of the site.
const MAX_EMPTY_WORDS: usize = 3;

/// The minimum number of words of prose, as opposed to labels.
const MIN_PROSE_WORDS: usize = 12;

/// The maximum number of words of a message about loading or scripts.
const MAX_MESSAGE_WORDS: usize = 20;

/// The maximum depth of the stack of open elements.
const MAX_DEPTH: usize = 256;

/// The maximum number of scripts that are analyzed.
const MAX_SCRIPTS: usize = 64;

/// The maximum number of `noscript` elements whose content is searched for messages.
const MAX_NOSCRIPTS: usize = 16;

/// The maximum number of bytes of a `noscript` element that are searched.
const MAX_NOSCRIPT_BYTES: usize = 2048;

/// The maximum number of empty containers that are recorded.
const MAX_CONTAINERS: usize = 32;

/// Evidence in the source of a page about where its content comes from.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The visible content, without navigation, footers and messages about loading.
    pub(super) counts: Counts,
    /// True if the content has a text of the length of a sentence.
    pub(super) has_prose: bool,
    /// True if an element that frameworks render into has no content.
    pub(super) empty_root: bool,
    /// True if an element that frameworks render into has content.
    pub(super) filled_root: bool,
    /// True if the element for the main content has none.
    pub(super) empty_main: bool,
    /// True if an empty element has the `id` of a container for content.
    pub(super) empty_container: bool,
    /// True if a custom element near the top of the page has no content.
    pub(super) empty_custom: bool,
    /// The number of skeletons: grey shapes in place of content.
    pub(super) skeletons: usize,
    /// The number of elements and messages that are shown while something is loaded.
    pub(super) spinners: usize,
    /// True if an element declares that its content is not loaded yet: `aria-busy`, or a frame or fragment that loads
    /// itself.
    pub(super) is_pending: bool,
    /// True if the markup is a template that scripts fill.
    pub(super) is_template: bool,
    /// True if a message says that the page needs scripts.
    pub(super) asks_for_scripts: bool,
    /// The evidence in the scripts.
    pub(super) scripts: ScriptEvidence,
}

/// Collects the evidence in the source of a page.
pub(super) fn scan(source: &[u8]) -> Evidence {
    let mut scan = Scan::default();
    for token in scan_tags(source) {
        match token {
            SourceToken::Text(text) => scan.text(text),
            SourceToken::Tag(tag) => scan.tag(tag),
            SourceToken::Invisible(content) => scan.invisible(content),
        }
        if scan.evidence.counts.words > MAX_WORDS {
            return scan.evidence;
        }
    }
    scan.finish()
}

/// The state of a scan.
#[derive(Debug, Default)]
struct Scan<'a> {
    evidence: Evidence,
    /// The stack of open elements.
    open: Vec<Element<'a>>,
    /// The script whose content comes next.
    script: Option<Script<'a>>,
    /// True if the content of a `noscript` element comes next.
    in_noscript: bool,
    scripts: Vec<Script<'a>>,
    /// The `id` attributes of empty containers.
    empty_ids: Vec<&'a [u8]>,
    /// Words in hidden elements, which a script may show.
    hidden_words: usize,
    /// The number of `noscript` elements that were searched.
    noscripts: usize,
    /// The number of `{{`, and of attributes that put a value into an element.
    interpolations: usize,
    /// True if an attribute repeats its element for each item of a list.
    repeats: bool,
}

impl<'a> Scan<'a> {
    fn text(&mut self, text: &[u8]) {
        let words = count_words(text);
        if words == 0 {
            return;
        }
        let context = self.open.last().map(|element| element.context).unwrap_or_default();
        if !context.is_code && names::contains(text, "{{") {
            self.interpolations += 1;
            return;
        }
        if context.is_hidden {
            self.hidden_words += words;
        } else if context.is_loading {
            self.evidence.counts.loading_words += words;
        } else if !context.is_chrome {
            if words <= MAX_MESSAGE_WORDS && self.record_message(text) {
                return;
            }
            self.evidence.counts.words += words;
            self.evidence.has_prose |= words >= MIN_PROSE_WORDS;
        }
    }

    /// Records a message that something is loading, or that the page needs scripts. Returns whether the text is one.
    fn record_message(&mut self, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text.trim_ascii()).to_lowercase();
        let asks_for_scripts = names::asks_for_scripts(&text);
        self.evidence.asks_for_scripts |= asks_for_scripts;
        let is_loading = names::is_loading(&text);
        self.evidence.spinners += usize::from(is_loading);
        asks_for_scripts || is_loading
    }

    fn tag(&mut self, source: &'a [u8]) {
        if let Some(name) = source.strip_prefix(b"/") {
            let end = name.iter().position(u8::is_ascii_whitespace).unwrap_or(name.len());
            return self.close(&name[..end]);
        }
        let tag = Tag::read(source);
        self.script = is_named(source, "script").then_some(Script {
            kind: tag.kind,
            src: tag.src,
            id: tag.id,
            content: &[],
        });
        self.in_noscript = is_named(source, "noscript");
        self.repeats |= tag.repeats;
        self.interpolations += usize::from(tag.has_binding);
        self.evidence.is_pending |= tag.bails_out || tag.loads_itself;
        let context = self.open.last().map(|element| element.context).unwrap_or_default();
        if tag.is_field() && !context.is_chrome && !context.is_hidden {
            self.evidence.counts.fields += 1;
        } else if tag.is_media() && !context.is_chrome && !context.is_hidden && !context.is_loading {
            self.evidence.counts.media += 1;
        }
        if is_void(tag.name) || self.script.is_some() || self.in_noscript || self.open.len() >= MAX_DEPTH {
            return;
        }
        if self.closes_last(tag.name) {
            self.close_last();
        }
        let element = Element::open(&tag, context, self.is_at_top(), self.evidence.counts);
        self.open.push(element);
    }

    /// Returns whether a start tag implies the end of the last open element, which is of the same kind.
    fn closes_last(&self, name: &[u8]) -> bool {
        let implied = ["p", "li", "option", "td", "th", "tr", "dt", "dd"];
        let last = self.open.last().map(|element| element.name);
        last.is_some_and(|last| {
            last.eq_ignore_ascii_case(name) && implied.iter().any(|element| is_named(name, element))
        })
    }

    /// Returns whether the next element is a child or grandchild of the body.
    fn is_at_top(&self) -> bool {
        let is_outer =
            |element: &Element<'_>| is_named(element.name, "html") || is_named(element.name, "body");
        self.open.iter().filter(|element| !is_outer(element)).count() <= 1
    }

    fn invisible(&mut self, content: &'a [u8]) {
        if let Some(script) = self.script.take() {
            if self.scripts.len() < MAX_SCRIPTS {
                self.scripts.push(Script { content, ..script });
            }
        } else if self.in_noscript && self.noscripts < MAX_NOSCRIPTS {
            self.noscripts += 1;
            let length = content.len().min(MAX_NOSCRIPT_BYTES);
            let text = String::from_utf8_lossy(&content[..length]).to_lowercase();
            self.evidence.asks_for_scripts |= names::asks_for_scripts(&text);
        }
    }

    /// Closes the innermost open element of this name, and the elements inside it.
    fn close(&mut self, name: &[u8]) {
        let Some(at) = self.open.iter().rposition(|element| element.name.eq_ignore_ascii_case(name)) else {
            return;
        };
        while self.open.len() > at {
            self.close_last();
        }
    }

    fn close_last(&mut self) {
        let Some(element) = self.open.pop() else { return };
        let Counts { words, loading_words, fields, media } = element.counts(self.evidence.counts);
        if element.is_outermost_loading && loading_words > MIN_PROSE_WORDS {
            // Some pages have a class for loading on all of their content.
            self.evidence.counts.loading_words -= loading_words;
            self.evidence.counts.words += loading_words;
        }
        let is_bare = words <= MAX_EMPTY_WORDS && fields == 0 && loading_words <= MIN_PROSE_WORDS;
        let is_empty = is_bare && media == 0;
        if element.is_skeleton && is_empty {
            self.evidence.skeletons += 1;
        }
        if element.is_spinner && is_empty {
            self.evidence.spinners += 1;
        }
        if element.is_busy && is_empty {
            self.evidence.is_pending = true;
        }
        match element.region {
            // A logo may be shown until the application has started.
            Region::Root if is_bare && media <= 1 => self.evidence.empty_root = true,
            Region::Root => self.evidence.filled_root = true,
            Region::Main => self.evidence.empty_main |= is_empty,
            Region::Custom => self.evidence.empty_custom |= is_empty,
            Region::Other => {}
        }
        let is_container = !element.id.is_empty() && is_block(element.name);
        if is_empty && is_container && !names::is_secondary(element.id) {
            self.evidence.empty_container |= names::is_for_content(element.id);
            if self.empty_ids.len() < MAX_CONTAINERS {
                self.empty_ids.push(element.id);
            }
        }
    }

    fn finish(mut self) -> Evidence {
        while !self.open.is_empty() {
            self.close_last();
        }
        if self.hidden_words > MAX_WORDS {
            // A page that hides most of its content until a script shows it is not a shell page.
            self.evidence.counts.words += self.hidden_words;
        }
        self.evidence.is_template = self.repeats && self.interpolations > 0;
        if self.evidence.counts.words <= MAX_WORDS {
            self.evidence.scripts = analyze_scripts(&self.scripts, &self.empty_ids);
        }
        self.evidence
    }
}

/// Counts the words of a text. In writing systems without spaces between words, two characters count as one word.
fn count_words(text: &[u8]) -> usize {
    let words = text.split(u8::is_ascii_whitespace);
    let words =
        words.filter(|word| word.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)).count();
    // The first bytes of Chinese, Japanese and Korean characters in UTF-8.
    words + text.iter().filter(|byte| (0xE3..=0xED).contains(*byte)).count() / 2
}
