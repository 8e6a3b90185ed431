//! The known configuration keys, by which a misspelt one is named with its nearest neighbour.

use toml::{Table, Value};

/// A section and its keys. A section that is not used yet has its keys checked by its own issue.
struct Section {
    /// The name; `*` stands for one that the operator gives.
    name: &'static str,
    /// Its keys, in groups.
    keys: &'static [&'static [&'static str]],
}

/// The keys of every server that is asked for results.
pub(super) const ENDPOINT: &[&str] =
    &["timeout_ms", "requests_per_second", "burst", "breaker_failures", "breaker_pause_ms"];

/// The sections this version reads.
const SECTIONS: &[Section] = &[
    Section {
        name: "server",
        keys: &[
            &["listen", "metrics_listen", "public_url", "trusted_proxies", "tls", "max_connections"],
            &["drain_timeout_ms"],
        ],
    },
    Section { name: "server.tls", keys: &[&["cert", "key"]] },
    Section { name: "auth", keys: &[&["required"]] },
    Section {
        name: "fetch",
        keys: &[&["allow_networks", "connect_to", "ca_file", "user_agent", "max_body_bytes", "concurrency"]],
    },
    Section { name: "search", keys: &[&["providers", "searxng", "sources"]] },
    Section { name: "search.searxng", keys: &[&["url"], ENDPOINT] },
    Section {
        name: "search.sources.*",
        keys: &[
            &["kind"],
            websvc_engine::ApiDefinition::KEYS,
            websvc_engine::ElasticsearchDeclaration::KEYS,
            ENDPOINT,
        ],
    },
    Section { name: "search.sources.*.fields", keys: &[websvc_engine::ApiDefinition::FIELD_KEYS] },
    Section { name: "cache", keys: &[&["max_bytes", "max_age_days", "memory_bytes"]] },
    Section {
        name: "browser",
        keys: &[
            &["path", "concurrency", "pages_per_process", "idle_shutdown_s", "lists"],
            &["memory_bytes", "page_memory_bytes", "max_memory_bytes"],
            &["cdp_url", "egress_listen", "egress_host", "egress_from"],
        ],
    },
    Section { name: "artifacts", keys: &[&["path", "max_bytes", "max_age_hours", "s3"]] },
    Section {
        name: "artifacts.s3",
        keys: &[&["endpoint", "region", "bucket", "prefix", "access_key_id", "secret_access_key"]],
    },
    Section { name: "proxy", keys: &[&["basic", "enhanced", "by_country"]] },
    Section { name: "threat", keys: &[super::Threat::KEYS] },
    Section { name: "llm", keys: &[super::Llm::KEYS] },
    Section { name: "audit", keys: &[super::Audit::KEYS] },
    Section {
        name: "limits",
        keys: &[
            &["requests_per_minute", "concurrency", "total_concurrency", "queue", "queue_wait_ms"],
            &["processors", "overload_wait_ms", "overload_after_ms"],
        ],
    },
    Section { name: "usage", keys: &[&["log_rows", "log_days", "daily_days"]] },
    Section { name: "jobs", keys: &[super::Jobs::KEYS] },
    Section { name: "webhooks", keys: &[super::Webhooks::KEYS] },
    Section { name: "pricing", keys: &[websvc_engine::Pricing::KEYS] },
    Section { name: "log", keys: &[super::Log::KEYS] },
    Section { name: "traces", keys: &[super::Traces::KEYS] },
];

/// The keys of the contract whose feature this version does not have: they are left out, and that is said.
const NOT_YET: &[&str] = &["store"];

/// A key that is in no section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownKey {
    pub(super) key: String,
    /// The nearest known name may be what was meant.
    pub(super) nearest: Option<&'static str>,
}

/// Takes the keys out of `table` whose feature this version does not have, and returns their names.
pub(super) fn take_not_yet(table: &mut Table) -> Vec<String> {
    let taken = NOT_YET.iter().filter(|path| {
        let removed = match path.split_once('.') {
            None => table.remove(**path),
            Some((section, key)) => {
                table.get_mut(section).and_then(Value::as_table_mut).and_then(|section| section.remove(key))
            }
        };
        removed.is_some()
    });
    taken.map(|path| (*path).to_owned()).collect()
}

/// Returns the first key of `table` that this version does not read.
pub(super) fn first_unknown_key(table: &Table) -> Option<UnknownKey> {
    for (name, value) in table {
        if section(name).is_none() {
            return Some(unknown(name, section_names()));
        }
        if let Some(unknown) = value.as_table().and_then(|inner| unknown_below(name, inner)) {
            return Some(unknown);
        }
    }
    None
}

/// Looks below `path`; tables that are no sections hold names of the operator.
fn unknown_below(path: &str, table: &Table) -> Option<UnknownKey> {
    let section = section(path);
    for (key, value) in table {
        let inner = format!("{path}.{key}");
        if let Some(section) = section.filter(|section| !section.has(key)) {
            return Some(unknown(&inner, section.keys.iter().flat_map(|group| group.iter().copied())));
        }
        if let Some(unknown) = value.as_table().and_then(|table| unknown_below(&inner, table)) {
            return Some(unknown);
        }
    }
    None
}

impl Section {
    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|group| group.contains(&key))
    }

    fn is_called(&self, path: &str) -> bool {
        let (mut names, mut given) = (self.name.split('.'), path.split('.'));
        loop {
            match (names.next(), given.next()) {
                (None, None) => return true,
                (Some(name), Some(given)) if name == "*" || name == given => {}
                _ => return false,
            }
        }
    }
}

fn section(name: &str) -> Option<&'static Section> {
    SECTIONS.iter().find(|section| section.is_called(name))
}

/// Returns whether a section has this key.
pub(super) fn is_key(name: &str, key: &str) -> bool {
    section(name).is_some_and(|section| section.has(key))
}

fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|section| section.name).filter(|name| !name.contains('.'))
}

fn unknown(path: &str, known: impl Iterator<Item = &'static str>) -> UnknownKey {
    let last = path.rsplit('.').next().unwrap_or(path);
    UnknownKey { key: path.to_owned(), nearest: websvc_validate::suggest(last, known) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, key: Option<&str>, nearest: Option<&str>) {
        let found = first_unknown_key(&text.parse().unwrap());
        assert_eq!(found.as_ref().map(|found| found.key.as_str()), key, "{text}");
        assert_eq!(found.and_then(|found| found.nearest), nearest, "{text}");
    }

    #[test]
    fn a_misspelt_name_is_told_with_the_nearest() {
        check("[server]\nlisen = '1'", Some("server.lisen"), Some("listen"));
        check("[sever]\nlisten = '1'", Some("sever"), Some("server"));
        check("[search.sources.x]\nbrst = 1", Some("search.sources.x.brst"), Some("burst"));
        check("[search.sources.x.fields]\nurls = '/u'", Some("search.sources.x.fields.urls"), Some("url"));
        check("[llm]\nbase_ulr = 'x'", Some("llm.base_ulr"), Some("base_url"));
        check("[server.tls]\ncrt = 'x'", Some("server.tls.crt"), Some("cert"));
    }

    #[test]
    fn known_names_pass() {
        check("[server]\nlisten = '1'\n[server.tls]\ncert = 'x'\nkey = 'y'", None, None);
        check(
            "[search.sources.x]\nkind = 'http-json'\nburst = 1\nheaders = { 'Any-Name' = '1' }",
            None,
            None,
        );
        check("[fetch.connect_to]\n'a.test:80' = '127.0.0.1:1'", None, None);
    }

    #[test]
    fn keys_of_missing_features_are_taken_out_and_named() {
        let mut table = "[store]\nurl = 'x'\n[server]\nlisten = '1'".parse().unwrap();
        assert_eq!(take_not_yet(&mut table), ["store"]);
        assert_eq!(table, "[server]\nlisten = '1'".parse().unwrap());
    }
}
