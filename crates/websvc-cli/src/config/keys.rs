//! The known configuration keys, and suggestions for misspelled ones.

use toml::{Table, Value};
use websvc_engine::{ApiDefinition, ElasticsearchDeclaration, Pricing};

use super::fields::fields;
use super::search::Endpoint;

/// The name of a section, in which `*` stands for a name that the operator chooses, and its keys.
type Section = (&'static str, fn() -> Vec<&'static str>);

/// All sections.
const SECTIONS: &[Section] = &[
    ("server", fields::<super::Server>),
    ("server.tls", fields::<super::Tls>),
    ("auth", fields::<super::Auth>),
    ("auth.oauth", fields::<super::Oauth>),
    ("auth.oidc", fields::<super::Oidc>),
    ("fetch", fields::<super::Fetch>),
    ("search", fields::<super::Search>),
    ("search.searxng", || [vec!["url"], fields::<Endpoint>()].concat()),
    ("search.sources.*", || {
        [&["kind"], ApiDefinition::KEYS, ElasticsearchDeclaration::KEYS, &fields::<Endpoint>()].concat()
    }),
    ("search.sources.*.fields", || ApiDefinition::FIELD_KEYS.to_vec()),
    ("store", fields::<super::Store>),
    ("replica", fields::<super::Replica>),
    ("cache", fields::<super::Cache>),
    ("change_tracking", fields::<super::ChangeTracking>),
    ("browser", fields::<super::Browser>),
    ("artifacts", fields::<super::Artifacts>),
    ("artifacts.s3", fields::<super::S3>),
    ("proxy", fields::<super::Proxy>),
    ("threat", fields::<super::Threat>),
    ("llm", fields::<super::Llm>),
    // A fallback has no fallbacks.
    ("llm.fallback", || fields::<super::Llm>().into_iter().filter(|key| *key != "fallback").collect()),
    ("semantic", fields::<super::Semantic>),
    ("mail", fields::<super::Mail>),
    ("audit", fields::<super::Audit>),
    ("limits", fields::<super::Limits>),
    ("usage", fields::<super::Usage>),
    ("jobs", fields::<super::Jobs>),
    ("monitor", fields::<super::Monitor>),
    ("agent", fields::<super::Agent>),
    ("interact", fields::<super::Interact>),
    ("interact.interpreters", fields::<super::Interpreters>),
    ("media", fields::<super::Media>),
    ("webhooks", fields::<super::Webhooks>),
    ("pricing", fields::<Pricing>),
    ("log", fields::<super::Log>),
    ("traces", fields::<super::Traces>),
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
    let known = section(path);
    for (key, value) in table {
        let inner = format!("{path}.{key}");
        if let Some(known) = known.as_ref().filter(|known| !known.contains(&key.as_str())) {
            return Some(unknown(&inner, known.iter().copied()));
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

/// Returns the keys of a section.
fn section(path: &str) -> Option<Vec<&'static str>> {
    let is_part = |(name, given): (&str, &str)| name == "*" || name == given;
    let matches = |name: &str| {
        name.split('.').count() == path.split('.').count()
            && name.split('.').zip(path.split('.')).all(is_part)
    };
    SECTIONS.iter().find(|(name, _)| matches(name)).map(|(_, keys)| keys())
}

/// Returns `true` if the section has the key.
pub(super) fn is_key(name: &str, key: &str) -> bool {
    section(name).is_some_and(|keys| keys.contains(&key))
}

fn section_names() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|(name, _)| *name).filter(|name| !name.contains('.'))
}

/// Returns an unknown key with the most similar of the `known` names.
fn unknown(path: &str, known: impl Iterator<Item = &'static str>) -> UnknownKey {
    let last = path.rsplit('.').next().unwrap_or(path);
    UnknownKey { key: path.to_owned(), nearest: websvc_validate::suggest(last, known) }
}

/// Returns all keys with their sections.
#[cfg(test)]
pub(super) fn all_keys() -> Vec<String> {
    let keys =
        |(name, keys): &Section| keys().into_iter().map(|key| format!("{name}.{key}")).collect::<Vec<_>>();
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
        check("[auth.oidc]\nteam_clam = 'x'", Some("auth.oidc.team_clam"), Some("team_claim"));
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
        check("[auth.oidc]\nissuer = 'x'\n[auth.oidc.groups]\n'any/name' = ['search']", None, None);
        check("[fetch.connect_to]\n'a.test:80' = '127.0.0.1:1'", None, None);
    }
}
