//! The origin of each configuration key: a line of the file, or a variable.

use std::fmt;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Text for a message about a key of unknown origin.
pub(super) const NO_ORIGIN: &str = "the configuration";

/// The origin of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Line { file: PathBuf, line: usize },
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// The origins of all keys that were given, including sections. Of two origins of one key, the later one applies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Vec<(String, Origin)>);

impl Origins {
    /// Adds the keys of a file.
    pub(super) fn add_file(&mut self, file: &Path, text: &str, table: &DeTable<'_>) {
        self.add_table(file, text, "", table);
    }

    fn add_table(&mut self, file: &Path, text: &str, parent: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let key = if parent.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{parent}.{}", name.get_ref())
            };
            let line = line_of(text, name.span().start);
            if let DeValue::Table(inner) = Spanned::get_ref(value) {
                self.add_table(file, text, &key, inner);
            }
            self.0.push((key, Origin::Line { file: file.to_owned(), line }));
        }
    }

    /// Adds the key of a variable.
    pub(super) fn add_variable(&mut self, key: String, name: &str) {
        self.0.push((key, Origin::Variable(name.to_owned())));
    }

    /// Returns the origin of a key as text for a message.
    pub(super) fn describe(&self, key: &str) -> String {
        self.find(key).map_or_else(|| NO_ORIGIN.to_owned(), ToString::to_string)
    }

    /// Returns the origin of a key, or of its section if the key was not given.
    pub(super) fn find(&self, key: &str) -> Option<&Origin> {
        let mut key = key;
        loop {
            if let Some((_, origin)) = self.0.iter().rev().find(|(given, _)| given == key) {
                return Some(origin);
            }
            key = key.rsplit_once('.')?.0;
        }
    }

    /// Returns the origin of the first key in a section. A variable sets a key without mentioning its section.
    pub(super) fn below(&self, section: &str) -> Option<&Origin> {
        let is_below = |key: &str| key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
        self.0.iter().find(|(key, _)| is_below(key)).map(|(_, origin)| origin)
    }

    /// Returns the origin of the key that an error is about. Errors about values begin with the key.
    pub(crate) fn of_error(&self, text: &str) -> Option<&Origin> {
        let is_about = |key: &str| {
            let is_end = |next: char| !(next.is_alphanumeric() || matches!(next, '_' | '.'));
            text.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(is_end))
        };
        let about = self.0.iter().rev().filter(|(key, _)| is_about(key));
        about.max_by_key(|(key, _)| key.len()).map(|(_, origin)| origin)
    }
}

/// Returns the number of the line, from 1, that contains the byte at `at`.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins() -> Origins {
        let text = "[server]\n\nlisten = '1'\n[fetch]\nallow_networks = [\n'x' ]\n[fetch.connect_to]\n'a.test:80' = 'b:1'\n";
        let mut origins = Origins::default();
        origins.add_file(Path::new("a.toml"), text, DeTable::parse(text).unwrap().get_ref());
        origins.add_variable("cache.max_bytes".to_owned(), "WEBSVC__CACHE__MAX_BYTES");
        origins
    }

    #[test]
    fn origin_of_a_key_is_its_line_or_variable_or_section() {
        let origins = origins();
        let of = |key: &str| origins.find(key).map(ToString::to_string);
        assert_eq!(of("server.listen").as_deref(), Some("a.toml:3"));
        assert_eq!(of("fetch.allow_networks").as_deref(), Some("a.toml:5"));
        assert_eq!(of("fetch.connect_to.a.test:80").as_deref(), Some("a.toml:8"));
        assert_eq!(of("server.tls").as_deref(), Some("a.toml:1"), "the section of the missing key");
        assert_eq!(of("cache.max_bytes").as_deref(), Some("WEBSVC__CACHE__MAX_BYTES"));
        assert_eq!(of("browser.path"), None);
    }

    #[test]
    fn origin_of_an_error_is_that_of_its_key() {
        let origins = origins();
        let of = |text: &str| origins.of_error(text).map(ToString::to_string);
        assert_eq!(of("fetch.allow_networks: \"x\" is not a network").as_deref(), Some("a.toml:5"));
        assert_eq!(of("fetch.connect_to: no").as_deref(), Some("a.toml:7"));
        assert_eq!(of("fetch.allow_networks").as_deref(), Some("a.toml:5"), "an error without its cause");
        assert_eq!(of("fetch.connect_to_x: no"), None);
        assert_eq!(of("this URL may not be fetched: see fetch.allow_networks"), None);
    }
}
