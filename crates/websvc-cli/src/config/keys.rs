//! The known configuration keys, and suggestions for misspelled ones.

use toml::{Table, Value};

/// A section and its keys.
struct Section {
    /// Name of the section; `*` stands for a name that the operator chooses.
    name: &'static str,
    /// Keys of the section, in groups.
    keys: &'static [&'static [&'static str]],
}

/// The keys of every remote search source.
pub(super) const ENDPOINT: &[&str] =
    &["timeout_ms", "requests_per_second", "burst", "breaker_failures", "breaker_open_ms"];

/// All sections.
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
    Section { name: "search", keys: &[super::Search::KEYS] },
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
    Section { name: "store", keys: &[super::Store::KEYS] },
    Section { name: "replica", keys: &[super::Replica::KEYS] },
    Section { name: "cache", keys: &[&["max_bytes", "max_age_days", "output_memory_bytes"]] },
    Section { name: "change_tracking", keys: &[super::ChangeTracking::KEYS] },
    Section {
        name: "browser",
        keys: &[
            &["path", "bubblewrap", "concurrency", "pages_per_process", "idle_shutdown_s", "blocklists"],
            &["memory_bytes", "page_memory_bytes", "max_memory_bytes"],
            &["cdp_url", "egress_listen", "egress_host", "egress_allowed_networks"],
        ],
    },
    Section { name: "artifacts", keys: &[&["path", "max_bytes", "max_age_hours", "s3"]] },
    Section {
        name: "artifacts.s3",
        keys: &[&["endpoint", "region", "bucket", "prefix", "access_key_id", "secret_access_key"]],
    },
    Section { name: "proxy", keys: &[&["basic", "enhanced", "by_country"]] },
    Section { name: "threat", keys: &[super::Threat::KEYS] },
    Section { name: "llm", keys: &[super::Llm::KEYS, &["fallback"]] },
    Section { name: "llm.fallback", keys: &[super::Llm::KEYS] },
    Section { name: "mail", keys: &[super::Mail::KEYS] },
    Section { name: "audit", keys: &[super::Audit::KEYS] },
    Section {
        name: "limits",
        keys: &[
            &["requests_per_minute", "concurrency", "total_concurrency", "queue_len", "queue_wait_ms"],
            &["search_concurrency", "overload_target_ms", "overload_interval_ms"],
        ],
    },
    Section { name: "usage", keys: &[&["log_rows", "log_days", "daily_days", "feedback_days"]] },
    Section { name: "jobs", keys: &[super::Jobs::KEYS] },
    Section { name: "monitor", keys: &[super::Monitor::KEYS] },
    Section { name: "agent", keys: &[super::Agent::KEYS] },
    Section { name: "interact", keys: &[super::Interact::KEYS] },
    Section { name: "interact.interpreters", keys: &[super::Interpreters::KEYS] },
    Section { name: "media", keys: &[super::Media::KEYS] },
    Section { name: "webhooks", keys: &[super::Webhooks::KEYS] },
    Section { name: "pricing", keys: &[websvc_engine::Pricing::KEYS] },
    Section { name: "log", keys: &[super::Log::KEYS] },
    Section { name: "traces", keys: &[super::Traces::KEYS] },
];

/// A key that no section has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownKey {
    pub(super) key: String,
    /// The most similar known name.
    pub(super) nearest: Option<&'static str>,
}

/// Returns the value of a key such as `server.listen`.
pub(super) fn find<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let mut names = key.split('.');
    let first = table.get(names.next()?)?;
    names.try_fold(first, |value, name| value.get(name))
}

/// Returns the first unknown key of `table`.
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

/// Returns the first unknown key below `path`. In a table that is not a section, the operator chooses the names.
fn unknown_below(path: &str, table: &Table) -> Option<UnknownKey> {
    let section = section(path);
    for (key, value) in table {
        let inner = format!("{path}.{key}");
        if let Some(section) = section.filter(|section| !section.has(key)) {
            let known = section.keys.iter().flat_map(|group| group.iter().copied());
            return Some(unknown(&inner, known));
        }
        // The tables of a list have the keys of the section with the name of the list.
        let items = value.as_array().into_iter().flatten().chain([value]);
        if let Some(unknown) =
            items.filter_map(Value::as_table).find_map(|table| unknown_below(&inner, table))
        {
            return Some(unknown);
        }
    }
    None
}

impl Section {
    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|group| group.contains(&key))
    }

    fn matches(&self, path: &str) -> bool {
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
    SECTIONS.iter().find(|section| section.matches(name))
}

/// Returns `true` if the section has the key.
pub(super) fn is_key(name: &str, key: &str) -> bool {
    section(name).is_some_and(|section| section.has(key))
}

fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|section| section.name).filter(|name| !name.contains('.'))
}

/// Returns an unknown key with the most similar of the `known` names.
fn unknown(path: &str, known: impl Iterator<Item = &'static str>) -> UnknownKey {
    let last = path.rsplit('.').next().unwrap_or(path);
    UnknownKey { key: path.to_owned(), nearest: websvc_validate::suggest(last, known) }
}

/// Returns all keys with their sections.
#[cfg(test)]
pub(super) fn all_keys() -> Vec<String> {
    let keys = |section: &'static Section| {
        section.keys.iter().flat_map(|keys| *keys).map(|key| format!("{}.{key}", section.name))
    };
    SECTIONS.iter().flat_map(keys).collect()
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
    fn misspelled_key_is_reported_with_the_most_similar() {
        check("[server]\nlisen = '1'", Some("server.lisen"), Some("listen"));
        check("[sever]\nlisten = '1'", Some("sever"), Some("server"));
        check("[search.sources.x]\nbrst = 1", Some("search.sources.x.brst"), Some("burst"));
        check("[search.sources.x.fields]\nurls = '/u'", Some("search.sources.x.fields.urls"), Some("url"));
        check("[llm]\nbase_ulr = 'x'", Some("llm.base_ulr"), Some("base_url"));
        check("[[llm.fallback]]\n[[llm.fallback]]\nmodle = 'x'", Some("llm.fallback.modle"), Some("model"));
        check("[[llm.fallback]]\nfallback = []", Some("llm.fallback.fallback"), None);
        check("[server.tls]\ncrt = 'x'", Some("server.tls.crt"), Some("cert"));
    }

    #[test]
    fn known_keys_are_accepted() {
        check("[server]\nlisten = '1'\n[server.tls]\ncert = 'x'\nkey = 'y'", None, None);
        check(
            "[search.sources.x]\nkind = 'http-json'\nburst = 1\nheaders = { 'Any-Name' = '1' }",
            None,
            None,
        );
        check("[llm]\nextra_body = { any = { name = 1 } }\n[[llm.fallback]]\nmodel = 'x'", None, None);
        check("[fetch.connect_to]\n'a.test:80' = '127.0.0.1:1'", None, None);
    }
}
