//! The known configuration keys, by which a misspelt one is named with its nearest neighbour.

use toml::{Table, Value};

/// A section and its keys. A section that is not used yet has its keys checked by its own issue.
struct Section {
    name: &'static str,
    keys: &'static [&'static str],
}

/// The sections this version reads.
const SECTIONS: &[Section] = &[
    Section { name: "server", keys: &["listen", "tls", "max_connections", "drain_timeout_ms"] },
    Section { name: "server.tls", keys: &["cert", "key"] },
    Section { name: "auth", keys: &["required"] },
    Section {
        name: "fetch",
        keys: &["allow_networks", "connect_to", "ca_file", "user_agent", "max_body_bytes", "concurrency"],
    },
    Section { name: "search", keys: &["providers"] },
    Section { name: "cache", keys: &["max_bytes", "max_age_days"] },
    Section { name: "limits", keys: &["concurrency"] },
    Section { name: "pricing", keys: websvc_engine::Pricing::KEYS },
];

/// The keys of the contract whose feature this version does not have: naming one is an error that says so.
const NOT_YET: &[&str] = &[
    "audit",
    "browser",
    "llm",
    "proxy",
    "store",
    "threat",
    "limits.requests_per_minute",
    "search.searxng",
    "server.public_url",
    "server.trusted_proxies",
];

/// A key that is in no section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadKey {
    pub(super) key: String,
    pub(super) problem: Problem,
}

/// What is wrong with a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Nobody knows it; the nearest known name may be what was meant.
    Unknown { nearest: Option<&'static str> },
    /// It belongs to a feature that this version does not have.
    NotYet,
}

/// Returns the first key of `table` that this version does not read.
pub(super) fn first_bad_key(table: &Table) -> Option<BadKey> {
    for (name, value) in table {
        let Some(section) = section(name) else { return Some(bad(name, section_names())) };
        let Value::Table(inner) = value else { continue };
        for (key, value) in inner {
            let path = format!("{name}.{key}");
            if !section.keys.contains(&key.as_str()) {
                return Some(bad(&path, section.keys.iter().copied()));
            }
            let (Some(nested), Value::Table(inner)) = (self::section(&path), value) else { continue };
            if let Some(key) = inner.keys().find(|key| !nested.keys.contains(&key.as_str())) {
                return Some(bad(&format!("{path}.{key}"), nested.keys.iter().copied()));
            }
        }
    }
    None
}

fn section(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.name == name)
}

fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|section| section.name).filter(|name| !name.contains('.'))
}

fn bad(path: &str, known: impl Iterator<Item = &'static str>) -> BadKey {
    let last = path.rsplit('.').next().unwrap_or(path);
    let problem = if NOT_YET.contains(&path) {
        Problem::NotYet
    } else {
        Problem::Unknown { nearest: websvc_validate::nearest(last, known) }
    };
    BadKey { key: path.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_key_names_the_nearest() {
        let table = "[server]\nlisen = '1'".parse().unwrap();
        let expected =
            BadKey { key: "server.lisen".to_owned(), problem: Problem::Unknown { nearest: Some("listen") } };
        assert_eq!(first_bad_key(&table), Some(expected));
    }

    #[test]
    fn a_misspelt_section_names_the_nearest() {
        let table = "[sever]\nlisten = '1'".parse().unwrap();
        let expected =
            BadKey { key: "sever".to_owned(), problem: Problem::Unknown { nearest: Some("server") } };
        assert_eq!(first_bad_key(&table), Some(expected));
    }

    #[test]
    fn a_nested_key_is_checked() {
        let table = "[server.tls]\ncrt = 'x'".parse().unwrap();
        assert_eq!(first_bad_key(&table).map(|bad| bad.key), Some("server.tls.crt".to_owned()));
    }

    #[test]
    fn a_key_of_a_missing_feature_says_so() {
        let table = "[browser]\npath = 'x'".parse().unwrap();
        let expected = BadKey { key: "browser".to_owned(), problem: Problem::NotYet };
        assert_eq!(first_bad_key(&table), Some(expected));
    }

    #[test]
    fn the_names_in_connect_to_are_free() {
        let table = "[fetch.connect_to]\n'a.test:80' = '127.0.0.1:1'".parse().unwrap();
        assert_eq!(first_bad_key(&table), None);
    }
}
