//! Parses HTML with limited nesting: a filter between html5ever's tokenizer and its tree builder.
//!
//! The tree builder searches its stack of open elements for most tags, so unlimited nesting would take quadratic time.
//! Browsers limit nesting to 512 elements. This filter has a limit, too.

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

/// Depth at which the tree builder is stopped, if it nests deeper than the estimate allows.
const HARD_DEPTH: usize = 2 * MAX_DEPTH;

/// Size of the pieces that the tokenizer is fed with. After each piece the guard checks for an endless tag.
const PIECE_BYTES: usize = 2 << 10;

/// Parses HTML into a DOM. This never fails, as in browsers.
pub(crate) fn parse(html: &str) -> Dom {
    // Without scripting the parser parses the content of `<noscript>`, which has the content of some pages.
    let options =
        TreeBuilderOpts { drop_doctype: true, scripting_enabled: false, ..TreeBuilderOpts::default() };
    let guard = Guard {
        builder: TreeBuilder::new(Sink::new(html.len()), options),
        skipped: RefCell::default(),
        stopped: Cell::new(false),
        token_count: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(guard, Default::default());
    let queue = BufferQueue::default();
    let feed = |piece: &str| {
        queue.push_back(StrTendril::from_slice(piece));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        tokenizer.sink.token_count.take() > 0
    };
    feed_in_pieces(html, feed);
    tokenizer.end();
    tokenizer.sink.builder.sink.finish()
}

/// Feeds the tokenizer piece by piece and skips the rest of tags with too many attributes. `feed` returns whether a
/// token has ended.
fn feed_in_pieces(html: &str, feed: impl Fn(&str) -> bool) {
    let mut rest = html;
    // The last piece in which a token ended. An unfinished token may have begun in it.
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
            tag.feed(last_piece.as_bytes());
            tag
        });
        tag.feed(piece.as_bytes());
        while let Some(state) = tag.state_of_excess() {
            if feed(state.closing()) {
                let end = state.rest_of_tag(rest.as_bytes()).unwrap_or(rest.len());
                rest = rest.get(end..).unwrap_or_default();
                (last_piece, open) = ("", None);
                break;
            }
            tag.remove(state);
        }
    }
}

struct Guard {
    builder: TreeBuilder<NodeId, Sink>,
    /// Start tags that were skipped because of their depth. Their end tags must be skipped, too.
    skipped: RefCell<Vec<LocalName>>,
    stopped: Cell<bool>,
    /// Number of tokens since the last piece.
    token_count: Cell<usize>,
}

impl Guard {
    /// Returns whether a tag is a self-closing `<iframe/>` inside `<noscript>`. Browsers with scripts read that content
    /// as text. Parsed as markup, such a frame would contain the rest of the page.
    fn is_self_closing_frame(&self, tag: &Tag) -> bool {
        tag.kind == TagKind::StartTag
            && tag.self_closing
            && tag.name == html5ever::local_name!("iframe")
            && self.builder.sink.in_noscript()
    }

    /// Skips the rest of the page.
    fn stop(&self) {
        self.stopped.set(true);
        self.builder.sink.set_truncated();
    }

    fn accepts(&self, tag: &Tag) -> bool {
        let sink = &self.builder.sink;
        let depth = sink.depth(HARD_DEPTH);
        if depth >= HARD_DEPTH {
            self.stop();
            return false;
        }
        match tag.kind {
            TagKind::StartTag if depth >= MAX_DEPTH && can_nest(&tag.name) => {
                self.skipped.borrow_mut().push(tag.name.clone());
                false
            }
            TagKind::EndTag => {
                let mut skipped = self.skipped.borrow_mut();
                if skipped.last() == Some(&tag.name) {
                    skipped.pop();
                    return false;
                }
                if depth >= MAX_DEPTH {
                    sink.close_element(&tag.name);
                }
                true
            }
            TagKind::StartTag => true,
        }
    }
}

/// Returns the end tag of a frame.
fn iframe_end_tag() -> Tag {
    let name = html5ever::local_name!("iframe");
    Tag {
        kind: TagKind::EndTag,
        name,
        self_closing: false,
        attrs: Vec::new(),
        had_duplicate_attributes: false,
    }
}

/// Returns whether elements with this name can contain elements. Tags of raw text must reach the tree builder, which
/// switches the state of the tokenizer.
fn can_nest(name: &LocalName) -> bool {
    use html5ever::local_name;
    !super::Tag::from_name(name).is_void()
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
        self.token_count.set(self.token_count.get() + usize::from(!is_error));
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
            && !self.accepts(tag)
        {
            return TokenSinkResult::Continue;
        }
        let is_self_closing_frame = matches!(&token, Token::TagToken(tag) if self.is_self_closing_frame(tag));
        let result = self.builder.process_token(token, line);
        if is_self_closing_frame {
            return self.builder.process_token(Token::TagToken(iframe_end_tag()), line);
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
