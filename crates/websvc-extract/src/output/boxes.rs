//! The boxes of elements: their tags say which, unless a role or a style says otherwise.

use crate::dom::{Dom, NodeId, Tag};
use crate::hidden::sheet::{self, Compound, RuleScope};
use crate::text::{start_of, starts_with_ignore_case};
use html5ever::local_name;
use std::collections::HashMap;

/// Maximum number of rules of a page, and of rules that are tested for one element.
const MAX_RULES: usize = 2_000;
const MAX_RULES_OF_ELEMENT: usize = 16;

/// Maximum number of bytes of styles that are read. The few pages with more have whole frameworks in them.
const MAX_CSS_BYTES: usize = 64 << 10;

/// Maximum length of the text of a box inside a line, in bytes. A longer one is a column.
const MAX_INLINE_BYTES: usize = 80;

/// The box of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoxKind {
    /// The box of its tag.
    OfTag,
    Block,
    /// Part of the line around it.
    Inline,
    /// A box in the line, with space around it.
    InlineBlock,
    /// A block with a box for each child.
    Flex,
    Heading(usize),
    Table,
    RowGroup,
    Row,
    Cell,
    HeaderCell,
}

/// The roles and styles of a page that change boxes.
#[derive(Debug, Default)]
pub(super) struct Boxes<'a> {
    rules: Vec<Rule<'a>>,
    /// Rules by the first class, the ID or the tag of the selected element.
    by_name: HashMap<&'a str, Vec<usize>>,
}

#[derive(Debug)]
struct Rule<'a> {
    compounds: Vec<Compound<'a>>,
    specificity: u32,
    kind: BoxKind,
}

impl<'a> Boxes<'a> {
    /// Reads the styles of a page. Most pages have none that change boxes.
    pub(super) fn from_dom(dom: &'a Dom) -> Boxes<'a> {
        let mut boxes = Boxes::default();
        let css = start_of(dom.styles(), MAX_CSS_BYTES);
        let mut declarations = declarations_of_display(css).peekable();
        if declarations.peek().is_some() {
            // Most rules have no such declaration: their texts are not searched again.
            let mut rule = |head: &'a str, body: &'a str, scope| {
                let start = body.as_ptr().addr() - css.as_ptr().addr();
                while declarations.next_if(|&end| end < start).is_some() {}
                if declarations.peek().is_some_and(|&end| end <= start + body.len()) {
                    boxes.rule(head, body, scope);
                }
            };
            sheet::for_each_rule(css, RuleScope::All, 0, &mut rule);
        }
        boxes
    }

    fn rule(&mut self, head: &'a str, body: &'a str, scope: RuleScope) {
        if scope != RuleScope::All || self.rules.len() >= MAX_RULES {
            return;
        }
        let Some(kind) = display(body) else { return };
        for selector in head.split(',').map(str::trim) {
            let Some(compounds) = sheet::compounds(selector) else { continue };
            let Some(name) = compounds.last().and_then(|subject| subject.name().or(subject.tag())) else {
                continue;
            };
            self.by_name.entry(name).or_default().push(self.rules.len());
            self.rules.push(Rule { specificity: sheet::specificity(&compounds), compounds, kind });
        }
    }

    /// Returns the box of an element.
    pub(super) fn of(&self, dom: &Dom, id: NodeId, tag: Tag) -> BoxKind {
        if !may_differ(tag) {
            return BoxKind::OfTag;
        }
        let (mut class, mut name, mut style, mut role) = ("", "", "", "");
        for (attribute, value) in dom.named_attributes(id) {
            match *attribute {
                local_name!("class") => class = value,
                local_name!("id") => name = value,
                local_name!("style") => style = value,
                local_name!("role") => role = value,
                _ => {}
            }
        }
        if let Some(kind) = of_role(dom, id, role) {
            return kind;
        }
        let inline_style = (!style.is_empty()).then(|| display(style)).flatten();
        let kind = inline_style.or_else(|| self.of_rules(dom, id, class, name));
        kind.map_or(BoxKind::OfTag, |kind| checked(dom, id, tag, kind))
    }

    fn of_rules(&self, dom: &Dom, id: NodeId, class: &str, name: &str) -> Option<BoxKind> {
        if self.rules.is_empty() {
            return None;
        }
        let names = class.split_ascii_whitespace().chain([name, dom.name(id)]);
        let candidates = names.filter_map(|name| self.by_name.get(name)).flatten();
        let matching = candidates
            .take(MAX_RULES_OF_ELEMENT)
            .filter(|&&index| sheet::matches(&self.rules[index].compounds, dom, id));
        // Of rules with the same specificity the last one applies.
        let best = matching.max_by_key(|&&index| (self.rules[index].specificity, index));
        best.map(|&index| self.rules[index].kind)
    }
}

/// Returns the places of the declarations of `display` in a style sheet that change boxes, so not those of `none`.
fn declarations_of_display(css: &str) -> impl Iterator<Item = usize> {
    let mut from = 0;
    let next = move || {
        from = find_display(css.as_bytes(), from)?;
        Some(from)
    };
    let is_box = |&end: &usize| {
        let value = css[end..].trim_start().strip_prefix(':').map(str::trim_start);
        value.is_some_and(|value| value.starts_with(['b', 'f', 'g', 'i', 'l', 't']))
    };
    std::iter::from_fn(next).filter(is_box)
}

/// Returns the end of the next `display`. Most steps are as long as the word (Boyer, Moore and Horspool), which takes a
/// fifth of the time of a search byte by byte.
fn find_display(css: &[u8], from: usize) -> Option<usize> {
    const WORD: &[u8] = b"display";
    let mut end = from + WORD.len();
    while let Some(last) = css.get(end - 1) {
        end += match last {
            b'y' if css[..end].ends_with(WORD) => return Some(end),
            b'a' => 1,
            b'l' => 2,
            b'p' => 3,
            b's' => 4,
            b'i' => 5,
            b'd' => 6,
            _ => WORD.len(),
        };
    }
    None
}

/// Returns whether authors change the box of elements with this tag. Lists, tables, headings and code keep their
/// meaning, whatever they look like.
fn may_differ(tag: Tag) -> bool {
    use Tag::*;
    matches!(
        tag,
        A | Article | B | Div | Em | I | Label | Li | P | Section | Small | Span | Strong | Time | Ul | Other
    )
}

fn of_role(dom: &Dom, id: NodeId, role: &str) -> Option<BoxKind> {
    Some(match role {
        "heading" => {
            let level = dom.attribute(id, "aria-level").and_then(|level| level.trim().parse().ok());
            BoxKind::Heading(level.unwrap_or(2_usize).clamp(1, 6))
        }
        "table" | "grid" | "treegrid" => BoxKind::Table,
        "rowgroup" => BoxKind::RowGroup,
        "row" => BoxKind::Row,
        "cell" | "gridcell" => BoxKind::Cell,
        "columnheader" | "rowheader" => BoxKind::HeaderCell,
        _ => return None,
    })
}

/// Returns the box that the last `display` of some declarations makes.
fn display(declarations: &str) -> Option<BoxKind> {
    let mut values = declarations.split(';').filter_map(|declaration| {
        let (property, value) = declaration.split_once(':')?;
        property.trim().eq_ignore_ascii_case("display").then_some(value)
    });
    let value = values.next_back()?.split('!').next()?.trim().to_ascii_lowercase();
    Some(match value.as_str() {
        "block" | "flow-root" | "list-item" | "table-caption" => BoxKind::Block,
        "inline" => BoxKind::Inline,
        "inline-block" | "inline-flex" | "inline-grid" | "inline-table" => BoxKind::InlineBlock,
        "flex" | "grid" => BoxKind::Flex,
        "table" => BoxKind::Table,
        "table-row" => BoxKind::Row,
        "table-cell" => BoxKind::Cell,
        "table-row-group" | "table-header-group" | "table-footer-group" => BoxKind::RowGroup,
        _ => return None,
    })
}

/// Returns the box that a style makes of an element, unless its tag says the same or its content contradicts it.
fn checked(dom: &Dom, id: NodeId, tag: Tag, kind: BoxKind) -> BoxKind {
    match kind {
        BoxKind::Block if tag.is_block() => BoxKind::OfTag,
        BoxKind::Inline | BoxKind::InlineBlock => {
            if matches!(tag, Tag::Ul | Tag::Li) {
                return BoxKind::OfTag;
            }
            if !tag.is_block() {
                // Animations put each letter into a box.
                let letters = dom.descendants(id).take(40).map(|inner| dom.text(inner).trim().len());
                let is_word = kind == BoxKind::InlineBlock && letters.sum::<usize>() > 1;
                return if is_word { kind } else { BoxKind::OfTag };
            }
            let mut bytes = 0;
            let has_blocks = dom.descendants(id).skip(1).take(40).any(|inner| {
                bytes += dom.text(inner).len();
                dom.tag(inner).is_some_and(Tag::is_block)
            });
            let is_column = kind == BoxKind::InlineBlock
                && (has_blocks || bytes > MAX_INLINE_BYTES || has_width(dom, id));
            if is_column { BoxKind::OfTag } else { kind }
        }
        // A list is a list, however its items are laid out.
        _ if matches!(tag, Tag::Ul | Tag::Li) => BoxKind::OfTag,
        kind => kind,
    }
}

fn has_width(dom: &Dom, id: NodeId) -> bool {
    let style = dom.attribute(id, "style").unwrap_or_default();
    style.split(';').any(|declaration| starts_with_ignore_case(declaration.trim(), "width"))
}
