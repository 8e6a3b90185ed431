//! The rules in the `<style>` elements of a page that hide something, for selectors of tags, classes and IDs.
//!
//! This is not a CSS cascade: rules with other selectors only tell which elements a script may show.

use super::declarations::StyleDeclarations;
use crate::dom::{Dom, NodeId};
use std::collections::{HashMap, HashSet};

/// Maximum number of stored rules of a page.
const MAX_RULES: usize = 4_000;

/// Maximum number of rules that are tested for one class, ID or tag.
const MAX_RULES_PER_NAME: usize = 64;

/// Maximum number of compounds of one selector.
const MAX_COMPOUNDS: usize = 6;

/// Parts of classes that a page has until its scripts have run, and of classes for screen readers.
const TEMPORARY: [&str; 4] = ["no-js", "nojs", "loading", "preload"];
const SCREEN_READER: [&str; 6] =
    ["sr-only", "visually-hidden", "visuallyhidden", "screen-reader", "screenreader", "assistive"];

/// The rules of a page.
#[derive(Debug, Default)]
pub(super) struct Sheet<'a> {
    rules: Vec<Rule<'a>>,
    hiding: Index<'a>,
    /// Used only for elements that a rule hides.
    showing: Index<'a>,
}

/// Rules by a name that the selected element must have.
#[derive(Debug, Default)]
struct Index<'a> {
    by_name: HashMap<&'a str, Vec<usize>>,
    by_tag: HashMap<&'a str, Vec<usize>>,
    /// A bloom filter of the names in `by_name`: most names of a page are in no rule.
    filter: [u64; 4],
}

impl<'a> Index<'a> {
    fn add(&mut self, subject: &Compound<'a>, rule: usize) {
        let rules = match subject.classes.iter().chain(&subject.id).next() {
            Some(name) => {
                let (word, bit) = filter_bit(name);
                self.filter[word] |= bit;
                self.by_name.entry(name).or_default()
            }
            None => self.by_tag.entry(subject.tag.unwrap_or_default()).or_default(),
        };
        if rules.len() < MAX_RULES_PER_NAME {
            rules.push(rule);
        }
    }

    /// Adds the rules that may match an element to `found`.
    fn find(&self, tag: &str, class: &str, id: &str, found: &mut Vec<usize>) {
        if self.filter != [0; 4] {
            for name in class.split_ascii_whitespace().chain((!id.is_empty()).then_some(id)) {
                let (word, bit) = filter_bit(name);
                if self.filter[word] & bit != 0 {
                    found.extend(self.by_name.get(name).into_iter().flatten());
                }
            }
        }
        if !self.by_tag.is_empty() {
            found.extend(self.by_tag.get(tag).into_iter().flatten());
        }
    }
}

#[derive(Debug)]
struct Rule<'a> {
    /// The compounds of the selector. The last one is that of the selected element.
    compounds: Vec<Compound<'a>>,
    specificity: u32,
    style: StyleDeclarations,
}

/// A tag, classes and an id that one element must have.
#[derive(Debug, Default)]
pub(crate) struct Compound<'a> {
    tag: Option<&'a str>,
    id: Option<&'a str>,
    classes: Vec<&'a str>,
    /// True if the compound before this one matches only the parent, not any ancestor.
    is_child: bool,
}

impl<'a> Sheet<'a> {
    /// Parses the styles of a page.
    pub(super) fn read(css: &'a str) -> Sheet<'a> {
        let mut parser = SheetParser::default();
        for_each_rule(css, RuleScope::All, 0, &mut |head, body, scope| parser.rule(head, body, scope));
        let SheetParser { rules, revealed } = parser;
        let mut sheet = Sheet::default();
        for rule in rules {
            let Some(subject) = rule.compounds.last() else { continue };
            let index = sheet.rules.len();
            if !rule.style.hides() {
                sheet.showing.add(subject, index);
            } else if subject.classes.iter().chain(&subject.id).any(|name| revealed.contains(name)) {
                continue;
            } else {
                sheet.hiding.add(subject, index);
            }
            sheet.rules.push(rule);
        }
        if sheet.rules.iter().any(|rule| rule.style.hides()) { sheet } else { Sheet::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the style of an element with these classes and this ID, if a rule hides it. For each property the rule
    /// with the highest specificity applies.
    pub(super) fn style(&self, dom: &Dom, element: NodeId, class: &str, id: &str) -> StyleDeclarations {
        let mut style = StyleDeclarations::default();
        let tag = dom.name(element);
        let mut found: Vec<usize> = Vec::new();
        self.hiding.find(tag, class, id, &mut found);
        found.retain(|&index| matches(&self.rules[index].compounds, dom, element));
        if found.is_empty() {
            return style;
        }
        let mut showing = Vec::new();
        self.showing.find(tag, class, id, &mut showing);
        found
            .extend(showing.into_iter().filter(|&index| matches(&self.rules[index].compounds, dom, element)));
        found.sort_unstable();
        let mut highest = [0; 3];
        for rule in found.into_iter().map(|index| &self.rules[index]) {
            let properties = [
                (&mut style.display_none, rule.style.display_none),
                (&mut style.visibility_hidden, rule.style.visibility_hidden),
                (&mut style.unseen, rule.style.unseen),
            ];
            for (specificity, (slot, value)) in highest.iter_mut().zip(properties) {
                if value.is_some() && rule.specificity >= *specificity {
                    (*slot, *specificity) = (value, rule.specificity);
                }
            }
            style.collapsed |= rule.style.collapsed;
            style.zero_size |= rule.style.zero_size;
        }
        style
    }
}

/// Returns the word and the bit of a name in a bloom filter.
fn filter_bit(name: &str) -> (usize, u64) {
    let bytes = name.as_bytes();
    let at = |index: usize| bytes.get(index).copied().map_or(0, usize::from);
    let hash = at(0) * 7 + at(bytes.len() / 2) * 31 + at(bytes.len().wrapping_sub(1)) * 3 + bytes.len() * 17;
    (hash / 64 % 4, 1 << (hash % 64))
}

/// Returns whether an element is the one that a selector of these compounds selects.
pub(crate) fn matches(compounds: &[Compound<'_>], dom: &Dom, element: NodeId) -> bool {
    let mut compounds = compounds.iter().rev();
    let Some(subject) = compounds.next().filter(|subject| subject.matches(dom, element)) else {
        return false;
    };
    let (mut current, mut is_child) = (element, subject.is_child);
    compounds.all(|compound| {
        let ancestors = dom.ancestors(current).take(if is_child { 1 } else { usize::MAX });
        let Some(found) = ancestors.into_iter().find(|&id| compound.matches(dom, id)) else {
            return false;
        };
        (current, is_child) = (found, compound.is_child);
        true
    })
}

/// Returns the specificity of a selector of these compounds.
pub(crate) fn specificity(compounds: &[Compound<'_>]) -> u32 {
    let weight = |compound: &Compound<'_>| {
        10_000 * u32::from(compound.id.is_some())
            + 100 * u32::try_from(compound.classes.len()).unwrap_or(0)
            + u32::from(compound.tag.is_some())
    };
    compounds.iter().map(weight).sum()
}

impl<'a> Compound<'a> {
    /// Returns a class or the ID that the element must have, if there is one.
    pub(crate) fn name(&self) -> Option<&'a str> {
        self.classes.first().copied().or(self.id)
    }

    /// Returns the tag that the element must have, if there is one.
    pub(crate) fn tag(&self) -> Option<&'a str> {
        self.tag
    }

    fn matches(&self, dom: &Dom, element: NodeId) -> bool {
        let class = || dom.attribute(element, "class").unwrap_or_default();
        self.tag.is_none_or(|tag| dom.name(element).eq_ignore_ascii_case(tag))
            && self.id.is_none_or(|id| dom.attribute(element, "id") == Some(id))
            && self.classes.iter().all(|name| class().split_ascii_whitespace().any(|has| has == *name))
    }

    /// Parses a compound. `None` if it has anything but a tag, classes and IDs.
    fn read(text: &'a str) -> Option<Compound<'a>> {
        let mut compound = Compound::default();
        let end = text.find(['.', '#']).unwrap_or(text.len());
        let (tag, mut rest) = text.split_at(end);
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
        };
        if !tag.is_empty() && tag != "*" {
            compound.tag = Some(tag).filter(|tag| is_name(tag));
            compound.tag?;
        }
        while let Some(mark) = rest.chars().next() {
            let end = rest[1..].find(['.', '#']).map_or(rest.len(), |end| end + 1);
            let name = Some(&rest[1..end]).filter(|name| is_name(name))?;
            if mark == '#' {
                compound.id = Some(name);
            } else {
                compound.classes.push(name);
            }
            rest = &rest[end..];
        }
        (compound.tag.is_some() || compound.id.is_some() || !compound.classes.is_empty()).then_some(compound)
    }
}

/// Meaning of the rules of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleScope {
    All,
    /// They only tell which elements are shown, because they apply to some screens only.
    ShowOnly,
}

#[derive(Debug, Default)]
struct SheetParser<'a> {
    rules: Vec<Rule<'a>>,
    /// Classes and IDs that a rule shows in some state.
    revealed: HashSet<&'a str>,
}

impl<'a> SheetParser<'a> {
    fn rule(&mut self, head: &'a str, body: &'a str, scope: RuleScope) {
        if self.rules.len() >= MAX_RULES || !may_affect_visibility(body) {
            return;
        }
        let style = StyleDeclarations::read(body);
        if style.is_empty() {
            return;
        }
        for selector in head.split(',').map(str::trim) {
            let compounds = compounds(selector);
            if style.shows() {
                self.reveal(selector, compounds.as_deref(), scope);
            }
            let Some(compounds) = compounds.filter(|_| scope == RuleScope::All) else { continue };
            let names = || compounds.iter().flat_map(|compound| compound.classes.iter().chain(&compound.id));
            let is_skipped = |name: &&str| {
                TEMPORARY.iter().chain(&SCREEN_READER).any(|part| name.to_ascii_lowercase().contains(part))
            };
            if names().any(is_skipped) {
                continue;
            }
            let important = if body.contains("!important") { 1_000_000 } else { 0 };
            let specificity = specificity(&compounds) + important;
            self.rules.push(Rule { compounds, specificity, style });
        }
    }

    /// Records the names in a selector that shows elements in some state: with another class, inside another element,
    /// on hover, or on some screens.
    fn reveal(&mut self, selector: &'a str, compounds: Option<&[Compound<'a>]>, scope: RuleScope) {
        if let Some([Compound { classes, id, .. }]) = compounds
            && scope == RuleScope::All
            && classes.len() + usize::from(id.is_some()) < 2
        {
            return;
        }
        let subject = selector.rsplit([' ', '>', '+', '~']).next().unwrap_or_default();
        let mut rest = subject;
        while let Some(mark) = rest.find(['.', '#']) {
            let name = &rest[mark + 1..];
            let end = name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')));
            let end = end.unwrap_or(name.len());
            self.revealed.insert(&name[..end]);
            rest = &name[end..];
        }
    }
}

/// Calls `rule` with the selectors, the declarations and the meaning of each rule of a style sheet.
pub(crate) fn for_each_rule<'a>(
    css: &'a str,
    scope: RuleScope,
    depth: usize,
    rule: &mut impl FnMut(&'a str, &'a str, RuleScope),
) {
    let mut rest = css;
    while let Some(open) = rest.find('{') {
        let head = prelude(&rest[..open]);
        let body = &rest[open + 1..];
        let Some(at_rule) = head.strip_prefix('@') else {
            let end = body.find('}').unwrap_or(body.len());
            rule(head, &body[..end], scope);
            rest = body.get(end + 1..).unwrap_or_default();
            continue;
        };
        let end = block_end(body);
        let name = at_rule.split(|c: char| !(c.is_alphanumeric() || c == '-')).next().unwrap_or_default();
        let condition = &at_rule[name.len()..];
        let inner = match name {
            "supports" | "layer" | "scope" => Some(scope),
            "media" if condition.contains("print") => None,
            "media" if !condition.contains('(') => Some(scope),
            "media" | "container" => Some(RuleScope::ShowOnly),
            _ => None,
        };
        if let Some(scope) = inner.filter(|_| depth < 4) {
            for_each_rule(&body[..end], scope, depth + 1, rule);
        }
        rest = body.get(end + 1..).unwrap_or_default();
    }
}

/// Returns the selector or the at-rule before a block, without statements before it.
fn prelude(text: &str) -> &str {
    let start = text.bytes().rposition(|byte| matches!(byte, b';' | b'}'));
    start.map_or(text, |start| &text[start + 1..]).trim()
}

/// Returns the position of the closing brace of the block whose content is `body`.
fn block_end(body: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    body.len()
}

/// Returns quickly whether declarations may hide or show something.
fn may_affect_visibility(body: &str) -> bool {
    let bytes = body.as_bytes();
    let mut at = 0;
    while let Some(colon) = body[at..].find(':') {
        let colon = at + colon;
        let name = &bytes[at..colon];
        let start = name.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let hit = match name.get(start).map(u8::to_ascii_lowercase) {
            Some(b'd') => name[start..].len() >= 7,
            Some(b'v') => name[start..].starts_with(b"vi"),
            Some(b'o') => matches!(name.get(start + 1), Some(b'p' | b'v')),
            Some(b'c') => name[start..].starts_with(b"clip"),
            Some(b'f') => name[start..].starts_with(b"font-s"),
            Some(b't') => [&b"text-i"[..], b"transform", b"top"].iter().any(|p| name[start..].starts_with(p)),
            Some(b'l' | b'r') => true,
            Some(b'm') => name[start..].starts_with(b"margin-"),
            _ => name[start..].first().is_some_and(u8::is_ascii_uppercase),
        };
        if hit {
            return true;
        }
        let Some(end) = body[colon..].find(';') else { return false };
        at = colon + end + 1;
    }
    false
}

/// Splits a selector at its combinators. `None` if it has combinators other than descendant and child, or states or
/// attributes.
pub(crate) fn compounds(selector: &str) -> Option<Vec<Compound<'_>>> {
    let mut list = Vec::new();
    let mut is_child = false;
    for part in selector.split_ascii_whitespace() {
        let mut pieces = part.split('>').peekable();
        while let Some(piece) = pieces.next() {
            if !piece.is_empty() {
                list.push(Compound { is_child, ..Compound::read(piece)? });
                is_child = false;
            }
            is_child |= pieces.peek().is_some();
        }
    }
    (1..=MAX_COMPOUNDS).contains(&list.len()).then_some(list)
}
