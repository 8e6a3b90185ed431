//! The labels around code that are controls: names of buttons, line numbers, and the name of the language.

use super::labels::{LabelKind, is_control, kind_of, normalized};
use super::{OutputContext, code};
use crate::dom::{NodeId, Tag};
use std::collections::{HashMap, HashSet};

/// Number of ancestors of a code block that may have its controls.
const MAX_WRAPPERS: usize = 4;

/// Maximum number of nodes, and of bytes of text, next to the code in an element around it.
const MAX_NODES: usize = 60;
const MAX_BYTES: usize = 160;

/// Maximum number of bytes of texts next to code that are read for line numbers, on the whole page.
const MAX_NUMBER_BYTES: usize = 1 << 20;

/// Maximum number of code blocks whose controls are searched.
const MAX_CODE_BLOCKS: usize = 2_000;

/// Names of languages that are not in the list of their classes.
const LANGUAGE_NAMES: [(&str, &str); 16] = [
    ("c#", "csharp"),
    ("c++", "cpp"),
    ("command line", "shell"),
    ("console", "console"),
    ("docker", "dockerfile"),
    ("f#", "fsharp"),
    ("golang", "go"),
    ("kt", "kotlin"),
    ("objective-c", "objc"),
    ("plain text", ""),
    ("plaintext", ""),
    ("py", "python"),
    ("rb", "ruby"),
    ("shell session", "console"),
    ("text", ""),
    ("xml", "xml"),
];

/// The controls around the code of a page.
#[derive(Debug, Default)]
pub(super) struct Toolbars {
    /// Texts and elements that are not written.
    controls: HashSet<NodeId>,
    /// Languages that only a label names, by code block.
    languages: HashMap<NodeId, String>,
    /// Number of bytes that were read for line numbers.
    number_bytes: usize,
}

impl Toolbars {
    /// Finds the controls around these code blocks.
    pub(super) fn find(context: OutputContext<'_>, code_blocks: &[NodeId]) -> Toolbars {
        let OutputContext { dom, .. } = context;
        let mut toolbars = Toolbars::default();
        for &pre in code_blocks.iter().take(MAX_CODE_BLOCKS) {
            let is_wrapper = |id: &NodeId| {
                dom.tag(*id).is_some_and(|tag| {
                    !matches!(tag, Tag::Body | Tag::Main | Tag::Article | Tag::Li | Tag::Td | Tag::Blockquote)
                })
            };
            for wrapper in dom.ancestors(pre).take_while(is_wrapper).take(MAX_WRAPPERS) {
                if !toolbars.read_wrapper(context, pre, wrapper) {
                    break;
                }
            }
        }
        toolbars
    }

    /// Reads the texts next to the code in an element around it. Returns false if these are too much for controls.
    fn read_wrapper(&mut self, context: OutputContext<'_>, pre: NodeId, wrapper: NodeId) -> bool {
        let OutputContext { dom, view, .. } = context;
        let mut texts: Vec<NodeId> = Vec::new();
        let (mut bytes, mut has_code, mut has_button) = (0, false, false);
        let mut walk = dom.descendants(wrapper);
        let mut count = 0;
        while let Some(id) = walk.next() {
            if id == pre {
                has_code = true;
                walk.skip_children(id);
                continue;
            }
            count += 1;
            has_button |= dom.is(id, Tag::Button) || dom.name(id) == "clipboard-copy";
            if view.is_excluded(id) || self.controls.contains(&id) {
                walk.skip_children(id);
                continue;
            }
            if id != wrapper && code::is_gutter(dom, id) || self.is_line_numbers(context, id, pre) {
                self.controls.insert(id);
                walk.skip_children(id);
                continue;
            }
            let text = dom.text(id).trim();
            bytes += text.len();
            if dom.is(id, Tag::Pre) || bytes > MAX_BYTES || count > MAX_NODES {
                return false;
            }
            if !text.is_empty() {
                texts.push(id);
            }
        }
        if has_code {
            self.read_labels(context, pre, &texts, has_button);
        }
        true
    }

    fn read_labels(&mut self, context: OutputContext<'_>, pre: NodeId, texts: &[NodeId], has_button: bool) {
        let dom = context.dom;
        let has_control = has_button || texts.iter().any(|&id| is_control(dom.text(id)));
        let declared = code::language(dom, pre);
        for &id in texts {
            let label = normalized(dom.text(id));
            let is_in_control = dom
                .ancestors(id)
                .take(3)
                .any(|above| dom.is(above, Tag::Button) || dom.attribute(above, "role") == Some("button"));
            let kind = kind_of(&label);
            if kind == Some(LabelKind::Control)
                || (has_control || is_in_control) && kind == Some(LabelKind::WeakControl)
            {
                self.controls.insert(id);
            } else if let Some(language) = language_of(&label)
                && (has_control || declared.as_deref() == Some(&*language) || names_language(context, id))
            {
                self.controls.insert(id);
                if declared.is_none() && !language.is_empty() {
                    self.languages.insert(pre, language);
                }
            }
        }
    }

    /// Returns whether an element next to code has a number for each of several lines and nothing else.
    fn is_line_numbers(&mut self, context: OutputContext<'_>, id: NodeId, pre: NodeId) -> bool {
        let OutputContext { dom, .. } = context;
        if dom.tag(id).is_none() || dom.parent(id) != dom.parent(pre) {
            return false;
        }
        let mut text = String::new();
        for inner in dom.descendants(id).skip(1) {
            let part = dom.text(inner);
            self.number_bytes += part.len() + 1;
            let is_number = part.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_whitespace());
            if !is_number || self.number_bytes > MAX_NUMBER_BYTES {
                return false;
            }
            text.push_str(part);
            text.push(' ');
        }
        code::are_line_numbers(&text)
    }

    /// Returns whether a node is a control next to code.
    pub(super) fn is_control(&self, id: NodeId) -> bool {
        !self.controls.is_empty() && self.controls.contains(&id)
    }

    /// Returns the language that a label names.
    pub(super) fn language(&self, pre: NodeId) -> Option<&str> {
        self.languages.get(&pre).map(String::as_str)
    }
}

fn language_of(label: &str) -> Option<String> {
    let named =
        LANGUAGE_NAMES.iter().find(|(name, _)| *name == label).map(|&(_, language)| language.to_owned());
    named.or_else(|| code::known_language(label))
}

/// Returns whether the element around a text has the class of a label for the language.
fn names_language(context: OutputContext<'_>, text: NodeId) -> bool {
    let OutputContext { dom, .. } = context;
    dom.parent(text).is_some_and(|parent| {
        let class = dom.attribute(parent, "class").unwrap_or_default().to_ascii_lowercase();
        ["lang", "toolbar", "code-header", "code-title", "codeheader"].iter().any(|part| class.contains(part))
    })
}
