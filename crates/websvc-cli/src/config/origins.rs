//! Source of each configuration key: a line of the file, or a variable.

use std::fmt;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The place of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    Line { file: PathBuf, line: usize },
    Variable(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// The places of all keys that were given, sections included; of two for one key the later wins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(Vec<(String, Place)>);

impl Origins {
    /// Adds the keys of a file.
    pub(super) fn add_file(&mut self, file: &Path, text: &str, table: &DeTable<'_>) {
        self.add_table(file, text, "", table);
    }

    fn add_table(&mut self, file: &Path, text: &str, above: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let key = if above.is_empty() {
                name.get_ref().to_string()
            } else {
                format!("{above}.{}", name.get_ref())
            };
            let line = line_of(text, name.span().start);
            if let DeValue::Table(inner) = Spanned::get_ref(value) {
                self.add_table(file, text, &key, inner);
            }
            self.0.push((key, Place::Line { file: file.to_owned(), line }));
        }
    }

    /// Adds the key of a variable.
    pub(super) fn add_variable(&mut self, key: String, name: &str) {
        self.0.push((key, Place::Variable(name.to_owned())));
    }

    /// Returns where a key was given; for one that was not, such as a missing one, where its section was.
    pub(super) fn of(&self, key: &str) -> Option<&Place> {
        let mut key = key;
        loop {
            if let Some((_, place)) = self.0.iter().rev().find(|(given, _)| given == key) {
                return Some(place);
            }
            key = key.rsplit_once('.')?.0;
        }
    }

    /// Returns where the first key of a section was given: by a variable, which gives the section with it.
    pub(super) fn below(&self, section: &str) -> Option<&Place> {
        let is_below = |key: &str| key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
        self.0.iter().find(|(key, _)| is_below(key)).map(|(_, place)| place)
    }

    /// Returns where the key was given that an error is about: errors about values begin with the key.
    pub(crate) fn of_error(&self, text: &str) -> Option<&Place> {
        let is_about = |key: &str| {
            let ends = |next: char| !(next.is_alphanumeric() || matches!(next, '_' | '.'));
            text.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(ends))
        };
        let about = self.0.iter().rev().filter(|(key, _)| is_about(key));
        about.max_by_key(|(key, _)| key.len()).map(|(_, place)| place)
    }
}

/// Returns the number of the line, from 1, in which a byte is.
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
    fn key_is_found_in_file_and_variables_and_by_its_section() {
        let origins = origins();
        let of = |key: &str| origins.of(key).map(ToString::to_string);
        assert_eq!(of("server.listen").as_deref(), Some("a.toml:3"));
        assert_eq!(of("fetch.allow_networks").as_deref(), Some("a.toml:5"));
        assert_eq!(of("fetch.connect_to.a.test:80").as_deref(), Some("a.toml:8"));
        assert_eq!(of("server.tls").as_deref(), Some("a.toml:1"), "the section that lacks it");
        assert_eq!(of("cache.max_bytes").as_deref(), Some("WEBSVC__CACHE__MAX_BYTES"));
        assert_eq!(of("browser.path"), None);
    }

    #[test]
    fn error_about_a_value_has_the_place_of_its_key() {
        let origins = origins();
        let of = |text: &str| origins.of_error(text).map(ToString::to_string);
        assert_eq!(of("fetch.allow_networks: \"x\" is not a network").as_deref(), Some("a.toml:5"));
        assert_eq!(of("fetch.connect_to: no").as_deref(), Some("a.toml:7"));
        assert_eq!(
            of("fetch.allow_networks").as_deref(),
            Some("a.toml:5"),
            "the error alone, without its cause"
        );
        assert_eq!(of("fetch.connect_to_x: no"), None);
        assert_eq!(of("this URL may not be fetched: see fetch.allow_networks"), None);
    }
}
