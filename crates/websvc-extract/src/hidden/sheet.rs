//! The rules in the `<style>` elements of a page that hide something, for selectors of tags, classes and ids.
//!
//! Not a cascade of CSS: rules with other selectors count only in that they tell what a script may show.

use super::declarations::StyleDeclarations;
use crate::dom::{Dom, NodeId};
use std::collections::{HashMap, HashSet};

/// Most rules that are kept of one page.
const MAX_RULES: usize = 4_000;

/// Most rules that are asked for one class, id or tag.
const MAX_RULES_OF_ONE: usize = 64;

/// Most compounds of one selector.
const MAX_COMPOUNDS: usize = 6;

/// Classes that stand on a page until its scripts have run, and classes for readers who hear a page.
const TEMPORARY: [&str; 4] = ["no-js", "nojs", "loading", "preload"];
const SPOKEN: [&str; 6] =
    ["sr-only", "visually-hidden", "visuallyhidden", "screen-reader", "screenreader", "assistive"];

/// The rules of a page.
#[derive(Debug, Default)]
pub(super) struct Sheet<'a> {
    rules: Vec<Rule<'a>>,
    hiding: Index<'a>,
    /// Asked only for elements that a rule hides.
    showing: Index<'a>,
}

/// Rules by what they ask of the element that they are about.
#[derive(Debug, Default)]
struct Index<'a> {
    by_name: HashMap<&'a str, Vec<usize>>,
    by_tag: HashMap<&'a str, Vec<usize>>,
    /// Hashes of the names in `by_name`: most names of a page are in no rule.
    filter: [u64; 4],
}

impl<'a> Index<'a> {
    fn add(&mut self, own: &Compound<'a>, rule: usize) {
        let of_one = match own.classes.iter().chain(&own.id).next() {
            Some(name) => {
                let (word, bit) = place(name);
                self.filter[word] |= bit;
                self.by_name.entry(name).or_default()
            }
            None => self.by_tag.entry(own.tag.unwrap_or_default()).or_default(),
        };
        if of_one.len() < MAX_RULES_OF_ONE {
            of_one.push(rule);
        }
    }

    /// Adds the rules that may be about an element to `found`.
    fn find(&self, tag: &str, class: &str, id: &str, found: &mut Vec<usize>) {
        if self.filter != [0; 4] {
            for name in class.split_ascii_whitespace().chain((!id.is_empty()).then_some(id)) {
                let (word, bit) = place(name);
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
    /// The compounds, that of the element itself last.
    compounds: Vec<Compound<'a>>,
    specificity: u32,
    look: StyleDeclarations,
}

/// A tag, classes and an id that one element must have.
#[derive(Debug, Default)]
struct Compound<'a> {
    tag: Option<&'a str>,
    id: Option<&'a str>,
    classes: Vec<&'a str>,
    /// True if the previous compound matches the parent only, not any ancestor.
    is_child: bool,
}

impl<'a> Sheet<'a> {
    /// Reads the styles of a page.
    pub(super) fn read(css: &'a str) -> Sheet<'a> {
        let mut reader = SheetParser::default();
        reader.block(css, RuleScope::All, 0);
        let SheetParser { rules, revealed } = reader;
        let mut sheet = Sheet::default();
        for rule in rules {
            let Some(own) = rule.compounds.last() else { continue };
            let at = sheet.rules.len();
            if !rule.look.hides() {
                sheet.showing.add(own, at);
            } else if own.classes.iter().chain(&own.id).any(|name| revealed.contains(name)) {
                continue;
            } else {
                sheet.hiding.add(own, at);
            }
            sheet.rules.push(rule);
        }
        if sheet.rules.iter().any(|rule| rule.look.hides()) { sheet } else { Sheet::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns what the rules say of an element with these classes and this id, if one hides it: the strongest for each
    /// property.
    pub(super) fn look(&self, dom: &Dom, element: NodeId, class: &str, id: &str) -> StyleDeclarations {
        let mut look = StyleDeclarations::default();
        let tag = dom.name(element);
        let mut found: Vec<usize> = Vec::new();
        self.hiding.find(tag, class, id, &mut found);
        found.retain(|&at| self.rules[at].matches(dom, element));
        if found.is_empty() {
            return look;
        }
        let mut shown = Vec::new();
        self.showing.find(tag, class, id, &mut shown);
        found.extend(shown.into_iter().filter(|&at| self.rules[at].matches(dom, element)));
        found.sort_unstable();
        let mut strongest = [0; 3];
        for rule in found.into_iter().map(|at| &self.rules[at]) {
            let says = [
                (&mut look.undisplayed, rule.look.undisplayed),
                (&mut look.invisible, rule.look.invisible),
                (&mut look.unseen, rule.look.unseen),
            ];
            for (strength, (slot, value)) in strongest.iter_mut().zip(says) {
                if value.is_some() && rule.specificity >= *strength {
                    (*slot, *strength) = (value, rule.specificity);
                }
            }
            look.folded |= rule.look.folded;
            look.tiny |= rule.look.tiny;
        }
        look
    }
}

fn place(name: &str) -> (usize, u64) {
    let bytes = name.as_bytes();
    let at = |index: usize| bytes.get(index).copied().map_or(0, usize::from);
    let hash = at(0) * 7 + at(bytes.len() / 2) * 31 + at(bytes.len().wrapping_sub(1)) * 3 + bytes.len() * 17;
    (hash / 64 % 4, 1 << (hash % 64))
}

impl Rule<'_> {
    fn matches(&self, dom: &Dom, element: NodeId) -> bool {
        let mut compounds = self.compounds.iter().rev();
        let Some(own) = compounds.next().filter(|own| own.matches(dom, element)) else { return false };
        let (mut at, mut is_child) = (element, own.is_child);
        compounds.all(|compound| {
            let above = dom.ancestors(at).take(if is_child { 1 } else { usize::MAX });
            let Some(found) = above.into_iter().find(|&id| compound.matches(dom, id)) else { return false };
            (at, is_child) = (found, compound.is_child);
            true
        })
    }
}

impl<'a> Compound<'a> {
    fn matches(&self, dom: &Dom, element: NodeId) -> bool {
        let class = || dom.attribute(element, "class").unwrap_or_default();
        self.tag.is_none_or(|tag| dom.name(element).eq_ignore_ascii_case(tag))
            && self.id.is_none_or(|id| dom.attribute(element, "id") == Some(id))
            && self.classes.iter().all(|name| class().split_ascii_whitespace().any(|has| has == *name))
    }

    /// Reads a compound; `None` when it has something besides tag, classes and ids.
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

/// Which rules of a block count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RuleScope {
    All,
    /// Only in that they show: rules for some screens.
    Shown,
}

#[derive(Debug, Default)]
struct SheetParser<'a> {
    rules: Vec<Rule<'a>>,
    /// Classes and ids that some rule shows in some state.
    revealed: HashSet<&'a str>,
}

impl<'a> SheetParser<'a> {
    /// Reads the rules of a block.
    fn block(&mut self, css: &'a str, counts: RuleScope, depth: usize) {
        let mut rest = css;
        while let Some(open) = rest.find('{') {
            let head = prelude(&rest[..open]);
            let body = &rest[open + 1..];
            let Some(rule) = head.strip_prefix('@') else {
                let end = body.find('}').unwrap_or(body.len());
                self.rule(head, &body[..end], counts);
                rest = body.get(end + 1..).unwrap_or_default();
                continue;
            };
            let end = block_end(body);
            let name = rule.split(|c: char| !(c.is_alphanumeric() || c == '-')).next().unwrap_or_default();
            let condition = &rule[name.len()..];
            let inner = match name {
                "supports" | "layer" | "scope" => Some(counts),
                "media" if condition.contains("print") => None,
                "media" if !condition.contains('(') => Some(counts),
                "media" | "container" => Some(RuleScope::Shown),
                _ => None,
            };
            if let Some(counts) = inner.filter(|_| depth < 4) {
                self.block(&body[..end], counts, depth + 1);
            }
            rest = body.get(end + 1..).unwrap_or_default();
        }
    }

    fn rule(&mut self, head: &'a str, body: &'a str, counts: RuleScope) {
        if self.rules.len() >= MAX_RULES || !is_of_interest(body) {
            return;
        }
        let look = StyleDeclarations::read(body);
        if look.is_silent() {
            return;
        }
        for selector in head.split(',').map(str::trim) {
            let compounds = compounds(selector);
            if look.shows() {
                self.reveal(selector, compounds.as_deref(), counts);
            }
            let Some(compounds) = compounds.filter(|_| counts == RuleScope::All) else { continue };
            let names = || compounds.iter().flat_map(|compound| compound.classes.iter().chain(&compound.id));
            let skipped = |name: &&str| {
                TEMPORARY.iter().chain(&SPOKEN).any(|part| name.to_ascii_lowercase().contains(part))
            };
            if names().any(skipped) {
                continue;
            }
            let weight = |compound: &Compound<'_>| {
                10_000 * u32::from(compound.id.is_some())
                    + 100 * u32::try_from(compound.classes.len()).unwrap_or(0)
                    + u32::from(compound.tag.is_some())
            };
            let important = if body.contains("!important") { 1_000_000 } else { 0 };
            let specificity = compounds.iter().map(weight).sum::<u32>() + important;
            self.rules.push(Rule { compounds, specificity, look });
        }
    }

    /// Notes what a selector shows in some state: with another class, inside another element, when pointed at, on some
    /// screens.
    fn reveal(&mut self, selector: &'a str, compounds: Option<&[Compound<'a>]>, counts: RuleScope) {
        if let Some([Compound { classes, id, .. }]) = compounds
            && counts == RuleScope::All
            && classes.len() + usize::from(id.is_some()) < 2
        {
            return;
        }
        let own = selector.rsplit([' ', '>', '+', '~']).next().unwrap_or_default();
        let mut rest = own;
        while let Some(mark) = rest.find(['.', '#']) {
            let name = &rest[mark + 1..];
            let end = name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')));
            let end = end.unwrap_or(name.len());
            self.revealed.insert(&name[..end]);
            rest = &name[end..];
        }
    }
}

/// Returns a selector or the name of a block without statements before it.
fn prelude(text: &str) -> &str {
    let start = text.bytes().rposition(|byte| matches!(byte, b';' | b'}'));
    start.map_or(text, |start| &text[start + 1..]).trim()
}

/// Returns where the block ends that begins before `body`.
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

/// Tells quickly whether declarations may hide or show something.
fn is_of_interest(body: &str) -> bool {
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

/// Splits a selector at its combinators; `None` when it has others than descendant and child, states or attributes.
fn compounds(selector: &str) -> Option<Vec<Compound<'_>>> {
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
