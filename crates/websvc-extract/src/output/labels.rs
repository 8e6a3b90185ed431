//! The labels of code: the names of controls, such as that of a button which copies it, and the names of languages.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The meaning of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LabelKind {
    /// A control wherever it is next to code.
    Control,
    /// A control next to another control, or in a button.
    WeakControl,
    /// A language that highlighters name by a class without a prefix, such as `<code class="python">`.
    Language,
}

static LABELS: LazyLock<HashMap<&str, LabelKind>> = LazyLock::new(|| {
    let mut labels = HashMap::new();
    for line in include_str!("../../data/code_labels.txt").lines() {
        let Some((kind, names)) = line.split_once(": ") else { continue };
        let kind = match kind {
            "control" => LabelKind::Control,
            "weak-control" => LabelKind::WeakControl,
            _ => LabelKind::Language,
        };
        labels.extend(names.split(", ").map(|name| (name, kind)));
    }
    labels
});

/// Returns the kind of a label in lower case; `None` if it means something else.
pub(super) fn kind_of(label: &str) -> Option<LabelKind> {
    LABELS.get(label).copied()
}

/// Returns a label in lower case without signs around it.
pub(super) fn normalized(text: &str) -> String {
    let text = crate::text::start_of(text.trim(), 40);
    text.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#')).to_lowercase()
}

/// Returns whether a text next to code is the name of a control.
pub(super) fn is_control(text: &str) -> bool {
    kind_of(&normalized(text)) == Some(LabelKind::Control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_each_kind_are_known() {
        assert!(is_control(" Copy to clipboard! ") && !is_control("run"));
        assert_eq!(kind_of("run"), Some(LabelKind::WeakControl));
        assert_eq!(kind_of("yaml"), Some(LabelKind::Language));
        assert_eq!(LABELS.len(), 118);
    }
}
