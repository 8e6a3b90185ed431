//! One pass over the source of a page that collects evidence of where its content comes from.
//!
//! There is no tree yet: a stack of the open elements is enough to tell the words of the content from those around it,
//! and to see which elements end without any.

use super::element::{Element, Region, Tag, is_block, is_void};
use super::names;
use super::script::{Script, ScriptFindings, look_at};
use crate::visible::{SourceToken, is_named, scan_tags};

/// A page with more words of content than this is not looked at any further.
pub(super) const PLENTY: usize = 150;

/// An element with no more words than this holds no content: a title, or the name of the site.
const FEW: usize = 3;

/// A text of so many words is a sentence that somebody wrote for a reader.
const PROSE: usize = 12;

/// How deep the open elements are followed.
const DEPTH: usize = 256;

/// How many scripts, messages and empty containers are remembered.
const SCRIPTS: usize = 64;
const MESSAGES: usize = 16;
const CONTAINERS: usize = 32;

/// Evidence in the source of a page about where its content comes from.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Words that a reader sees outside of navigation, footers and signs of loading.
    pub(super) words: usize,
    /// Words of a text that is a sentence or more are among them.
    pub(super) has_prose: bool,
    /// Fields that a reader fills in.
    pub(super) fields: usize,
    /// Images, videos, frames.
    pub(super) media: usize,
    /// An element that frameworks render into has no content.
    pub(super) empty_root: bool,
    /// An element that frameworks render into has content.
    pub(super) filled_root: bool,
    /// The element around the content has none.
    pub(super) empty_main: bool,
    /// An empty element has an `id` that says it is for content.
    pub(super) empty_container: bool,
    /// A custom element right in the page has no content.
    pub(super) empty_custom: bool,
    /// Grey shapes in the place of content.
    pub(super) skeletons: usize,
    /// Elements that turn while something is loaded.
    pub(super) spinners: usize,
    /// An element says that its content is still to come: `aria-busy`, a frame or fragment that loads itself.
    pub(super) is_pending: bool,
    /// The markup is a template that scripts fill in.
    pub(super) is_template: bool,
    /// The page says that it does nothing without scripts.
    pub(super) asks_for_scripts: bool,
    pub(super) scripts: ScriptFindings,
}

/// Collects the evidence in the source of a page.
pub(super) fn scan(source: &[u8]) -> Evidence {
    let mut scan = Scan::default();
    for piece in scan_tags(source) {
        match piece {
            SourceToken::Text(text) => scan.text(text),
            SourceToken::Tag(tag) => scan.tag(tag),
            SourceToken::Invisible(content) => scan.unseen(content),
        }
        if scan.found.words > PLENTY {
            return scan.found;
        }
    }
    scan.finish()
}

#[derive(Debug, Default)]
struct Scan<'a> {
    found: Evidence,
    open: Vec<Element<'a>>,
    /// The script or `noscript` whose content comes next.
    script: Option<Script<'a>>,
    in_noscript: bool,
    scripts: Vec<Script<'a>>,
    empty_ids: Vec<&'a [u8]>,
    /// Words that are shown only when a script wants it.
    hidden_words: usize,
    /// Words in elements that are marked as loading.
    loading_words: usize,
    messages: usize,
    interpolations: usize,
    repeats: bool,
}

impl<'a> Scan<'a> {
    fn text(&mut self, text: &[u8]) {
        let words = count_words(text);
        if words == 0 {
            return;
        }
        let place = self.open.last().map(|element| element.place).unwrap_or_default();
        if !place.is_code && names::contains(text, "{{") {
            self.interpolations += 1;
            return;
        }
        if place.is_hidden {
            self.hidden_words += words;
        } else if place.is_loading {
            self.loading_words += words;
        } else if !place.is_chrome {
            if words <= 20 && self.is_message(text) {
                return;
            }
            self.found.words += words;
            self.found.has_prose |= words >= PROSE;
        }
    }

    /// Returns whether a text is no content: that something is loading, or does not work without scripts.
    fn is_message(&mut self, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text.trim_ascii()).to_lowercase();
        let asks = names::asks_for_scripts(&text);
        self.found.asks_for_scripts |= asks;
        let is_loading = names::is_loading(&text);
        self.found.spinners += usize::from(is_loading);
        asks || is_loading
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
        self.interpolations += usize::from(tag.fills);
        self.found.is_pending |= tag.bails_out || tag.loads_itself;
        let place = self.open.last().map(|element| element.place).unwrap_or_default();
        if tag.is_field() && !place.is_chrome && !place.is_hidden {
            self.found.fields += 1;
        } else if tag.is_media() && !place.is_chrome && !place.is_hidden && !place.is_loading {
            self.found.media += 1;
        }
        if is_void(tag.name) || self.script.is_some() || self.in_noscript || self.open.len() >= DEPTH {
            return;
        }
        if self.is_sibling_of_last(tag.name) {
            self.close_last();
        }
        let element = Element::open(&tag, place, self.is_at_top(), self.counts());
        self.open.push(element);
    }

    /// Returns whether the last open element ends where another of its kind begins.
    fn is_sibling_of_last(&self, name: &[u8]) -> bool {
        let implied = ["p", "li", "option", "td", "th", "tr", "dt", "dd"];
        let last = self.open.last().map(|element| element.name);
        last.is_some_and(|last| {
            last.eq_ignore_ascii_case(name) && implied.iter().any(|known| is_named(name, known))
        })
    }

    /// Returns whether the next element stands in the body, or in one that stands there.
    fn is_at_top(&self) -> bool {
        let around = |element: &Element<'_>| is_named(element.name, "html") || is_named(element.name, "body");
        self.open.iter().filter(|element| !around(element)).count() <= 1
    }

    fn unseen(&mut self, content: &'a [u8]) {
        if let Some(script) = self.script.take() {
            if self.scripts.len() < SCRIPTS {
                self.scripts.push(Script { content, ..script });
            }
        } else if self.in_noscript && self.messages < MESSAGES {
            self.messages += 1;
            let text = String::from_utf8_lossy(&content[..content.len().min(2048)]).to_lowercase();
            self.found.asks_for_scripts |= names::asks_for_scripts(&text);
        }
    }

    /// Closes the innermost open element of this name, and what is open in it.
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
        let (words, loading, fields, media) = element.since(self.counts());
        if element.begins_loading && loading > PROSE {
            // A class that all of the page has until it is complete says nothing of its text.
            self.loading_words -= loading;
            self.found.words += loading;
        }
        let is_bare = words <= FEW && fields == 0 && loading <= PROSE;
        let is_empty = is_bare && media == 0;
        if element.is_skeleton && is_empty {
            self.found.skeletons += 1;
        }
        if element.is_spinner && is_empty {
            self.found.spinners += 1;
        }
        if element.is_busy && is_empty {
            self.found.is_pending = true;
        }
        match element.region {
            // A logo may stand there until the application does.
            Region::Root if is_bare && media <= 1 => self.found.empty_root = true,
            Region::Root => self.found.filled_root = true,
            Region::Main => self.found.empty_main |= is_empty,
            Region::Custom => self.found.empty_custom |= is_empty,
            Region::Other => {}
        }
        if is_empty
            && !element.id.is_empty()
            && is_block(element.name)
            && !names::is_beside_content(element.id)
        {
            self.found.empty_container |= names::is_for_content(element.id);
            if self.empty_ids.len() < CONTAINERS {
                self.empty_ids.push(element.id);
            }
        }
    }

    fn counts(&self) -> (usize, usize, usize, usize) {
        (self.found.words, self.loading_words, self.found.fields, self.found.media)
    }

    fn finish(mut self) -> Evidence {
        while !self.open.is_empty() {
            self.close_last();
        }
        if self.hidden_words > PLENTY {
            // The bulk of a page that is hidden until a script shows it is there all the same.
            self.found.words += self.hidden_words;
        }
        self.found.is_template = self.repeats && self.interpolations > 0;
        if self.found.words <= PLENTY {
            self.found.scripts = look_at(&self.scripts, &self.empty_ids);
        }
        self.found
    }
}

/// Counts the words of a text. In scripts that put no spaces between words, two characters count as one.
fn count_words(text: &[u8]) -> usize {
    let words = text.split(u8::is_ascii_whitespace);
    let words =
        words.filter(|word| word.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)).count();
    // The first bytes of Chinese, Japanese and Korean characters in UTF-8.
    words + text.iter().filter(|byte| (0xE3..=0xED).contains(*byte)).count() / 2
}
