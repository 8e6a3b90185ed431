//! Parses HTML with bounded nesting: a filter between html5ever's tokenizer and its tree builder.
//!
//! The tree builder searches its stack of open elements for most tags, so that unbounded nesting costs quadratic time.
//! Browsers stop nesting at 512 elements; so does this filter.

use super::sink::Sink;
use super::tags::OpenTag;
use super::{Dom, NodeId};
use crate::limits::{MAX_DEPTH, MAX_NODES};
use html5ever::LocalName;
use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::TreeSink;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use std::cell::{Cell, RefCell};

/// Depth at which the tree builder is stopped if it nests deeper than our estimate allows.
const HARD_DEPTH: usize = 2 * MAX_DEPTH;

/// How much the tokenizer is given at once: after each piece it is looked whether it stands in a tag without end.
const PIECE_BYTES: usize = 2 << 10;

/// Parses HTML into a DOM; never fails, as browsers never do.
pub(crate) fn parse(html: &str) -> Dom {
    // Without scripting, what is inside `<noscript>` is parsed: pages for browsers without scripts hide there.
    let options =
        TreeBuilderOpts { drop_doctype: true, scripting_enabled: false, ..TreeBuilderOpts::default() };
    let guard = Guard {
        builder: TreeBuilder::new(Sink::new(html.len()), options),
        left_out: RefCell::default(),
        stopped: Cell::new(false),
        tokens: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(guard, Default::default());
    let queue = BufferQueue::default();
    let feed = |piece: &str| {
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        tokenizer.sink.tokens.take() > 0
    };
    feed_in_pieces(html, feed);
    tokenizer.end();
    tokenizer.sink.builder.sink.finish()
}

/// Feeds the tokenizer piece by piece, but for the ends of tags that have too many attributes. `feed` tells whether a
/// token has ended.
fn feed_in_pieces(html: &str, feed: impl Fn(&str) -> bool) {
    let mut rest = html;
    // The last piece in which a token ended, and so the first in which an unfinished one may have begun.
    let mut last_piece = "";
    let mut open: Option<OpenTag> = None;
    while !rest.is_empty() {
        let piece = crate::text::start_of(rest, PIECE_BYTES);
        rest = &rest[piece.len()..];
        if feed(piece) {
            (last_piece, open) = (piece, None);
            continue;
        }
        let tag = open.get_or_insert_with(|| {
            let mut tag = OpenTag::default();
            tag.read(last_piece.as_bytes());
            tag
        });
        tag.read(piece.as_bytes());
        while let Some(state) = tag.too_long() {
            if feed(state.closing()) {
                let end = state.rest_of_tag(rest.as_bytes()).unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
                (last_piece, open) = ("", None);
                break;
            }
            tag.forget(state);
        }
    }
}

struct Guard {
    builder: TreeBuilder<NodeId, Sink>,
    /// Start tags left out because of their depth, whose end tags must be left out too.
    left_out: RefCell<Vec<LocalName>>,
    stopped: Cell<bool>,
    /// How many tokens came since it was last asked.
    tokens: Cell<usize>,
}

impl Guard {
    /// Tells whether a frame is written `<iframe/>` inside `<noscript>`. Browsers with scripts read what is in there as
    /// text; read as markup, such a frame would swallow the rest of the page.
    fn closes_itself(&self, tag: &Tag) -> bool {
        tag.kind == TagKind::StartTag
            && tag.self_closing
            && tag.name == html5ever::local_name!("iframe")
            && self.builder.sink.in_noscript()
    }

    /// Leaves out what follows.
    fn stop(&self) {
        self.stopped.set(true);
        self.builder.sink.note_truncation();
    }

    fn admits(&self, tag: &Tag) -> bool {
        let sink = &self.builder.sink;
        let depth = sink.depth(HARD_DEPTH);
        if depth >= HARD_DEPTH {
            self.stop();
            return false;
        }
        match tag.kind {
            TagKind::StartTag if depth >= MAX_DEPTH && nests(&tag.name) => {
                self.left_out.borrow_mut().push(tag.name.clone());
                false
            }
            TagKind::EndTag => {
                let mut left_out = self.left_out.borrow_mut();
                if left_out.last() == Some(&tag.name) {
                    left_out.pop();
                    return false;
                }
                if depth >= MAX_DEPTH {
                    sink.note_end(&tag.name);
                }
                true
            }
            TagKind::StartTag => true,
        }
    }
}

/// Returns the end tag of a frame.
fn end_of_frame() -> Tag {
    let name = html5ever::local_name!("iframe");
    Tag {
        kind: TagKind::EndTag,
        name,
        self_closing: false,
        attrs: Vec::new(),
        had_duplicate_attributes: false,
    }
}

/// Tells whether elements of this name can hold elements. Those that hold raw text must reach the tree builder, which
/// tells the tokenizer how to read them.
fn nests(name: &LocalName) -> bool {
    use html5ever::local_name;
    !super::Tag::of(name).is_void()
        && !matches!(
            *name,
            local_name!("script")
                | local_name!("style")
                | local_name!("title")
                | local_name!("textarea")
                | local_name!("iframe")
                | local_name!("noembed")
                | local_name!("noframes")
                | local_name!("plaintext")
                | local_name!("xmp")
        )
}

impl TokenSink for Guard {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        let is_error = matches!(token, Token::ParseError(_));
        self.tokens.set(self.tokens.get() + usize::from(!is_error));
        if is_error {
            return TokenSinkResult::Continue;
        }
        if self.builder.sink.node_count() >= MAX_NODES && !self.stopped.get() {
            self.stop();
        }
        if self.stopped.get() && !matches!(token, Token::EOFToken) {
            return TokenSinkResult::Continue;
        }
        if let Token::TagToken(tag) = &token
            && !self.admits(tag)
        {
            return TokenSinkResult::Continue;
        }
        let closes_itself = matches!(&token, Token::TagToken(tag) if self.closes_itself(tag));
        let result = self.builder.process_token(token, line);
        if closes_itself {
            return self.builder.process_token(Token::TagToken(end_of_frame()), line);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}
