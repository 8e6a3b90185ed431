//! Loading of the configuration: the file, overridden by environment variables.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;
use toml::{Table, Value};

use super::Config;
use super::keys::{self, UnknownKey};
use super::origins::{NO_ORIGIN, Origin, Origins, line_of};
use super::preset::UnknownPreset;
use super::times::{DurationTooLong, first_too_long};

/// Prefix of environment variables that are configuration keys: `WEBSVC__SECTION__KEY`.
const PREFIX: &str = "WEBSVC__";

/// Variables of websvc that are not configuration keys.
const OTHER_VARIABLES: &[&str] = &[
    "WEBSVC_CONFIG",
    "WEBSVC_DATA_DIR",
    "WEBSVC_API_KEY",
    "WEBSVC_ADMIN_KEY",
    crate::logging::FILTER_VARIABLE,
    crate::logging::FORMAT_VARIABLE,
];

/// An error of the configuration. Every message names the file and its line, or the variable.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the configuration {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{origin}: {message}")]
    Syntax { origin: String, message: String },
    #[error("{origin}: unknown configuration key `{key}`{}", suggestion(*nearest, variable.as_deref()))]
    Unknown { origin: String, key: String, nearest: Option<&'static str>, variable: Option<String> },
    #[error("{origin}: {key} must be at most {max}, not {value}")]
    TooLong { origin: String, key: &'static str, value: i64, max: i64 },
    #[error("{origin}: search.presets: {unknown}")]
    Preset { origin: String, unknown: UnknownPreset },
}

fn suggestion(nearest: Option<&str>, variable: Option<&str>) -> String {
    let mut text = nearest.map_or_else(String::new, |name| format!(", did you mean `{name}`?"));
    if let Some(variable) = variable {
        text.push_str(&format!(" The variable is {variable}"));
    }
    text
}

/// Reads the files, of which each overrides the keys of those before it, and applies the environment variables to them.
/// Sections are merged; lists and values replace each other.
///
/// The value of a variable is TOML (`["127.0.0.0/8"]`, `true`, `42`). If it is not valid TOML, it is a plain string.
pub(crate) fn load(
    files: &[PathBuf],
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    let mut origins = Origins::default();
    let mut table = Table::new();
    for file in files {
        merge(&mut table, read(file, &mut origins)?);
    }
    let mut misspelled = Vec::new();
    for (name, value) in variables {
        match name.strip_prefix(PREFIX) {
            Some(path) => set(&mut table, &mut origins, &name, path, &value)?,
            None => misspelled.extend(meant_variable(&name).map(|meant| (name, meant))),
        }
    }
    if let Some(unknown) = keys::first_unknown_key(&table) {
        return Err(unknown_key(&origins, unknown));
    }
    let too_long = first_too_long(&table);
    let mut config =
        Config::deserialize(Value::Table(table)).map_err(|error| wrong_value(&origins, &error))?;
    if let Some(DurationTooLong { key, value, max }) = too_long {
        return Err(ConfigError::TooLong { origin: origins.describe(key), key, value, max });
    }
    config.search = config
        .search
        .with_presets()
        .map_err(|unknown| ConfigError::Preset { origin: origins.describe("search.presets"), unknown })?;
    config.files = files.to_vec();
    config.misspelled = misspelled;
    config.origins = origins;
    Ok(config)
}

fn read(path: &Path, origins: &mut Origins) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let syntax_error = |error: toml::de::Error| ConfigError::Syntax {
        origin: match error.span() {
            Some(span) => format!("{}:{}", path.display(), line_of(&text, span.start)),
            None => path.display().to_string(),
        },
        message: error.message().to_owned(),
    };
    origins.add_file(path, &text, DeTable::parse(&text).map_err(syntax_error)?.get_ref());
    text.parse().map_err(syntax_error)
}

fn merge(table: &mut Table, later: Table) {
    for (key, value) in later {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(section)), Value::Table(later)) => merge(section, later),
            (_, value) => drop(table.insert(key, value)),
        }
    }
}

fn set(
    table: &mut Table,
    origins: &mut Origins,
    variable: &str,
    path: &str,
    value: &str,
) -> Result<(), ConfigError> {
    let path = path.to_ascii_lowercase();
    let mut names: Vec<&str> = path.split("__").collect();
    origins.add_variable(names.join("."), variable);
    let last = names.pop().unwrap_or_default();
    let mut inner = table;
    for name in names {
        let entry = inner.entry(name).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(next) = entry else {
            return Err(ConfigError::Syntax {
                origin: variable.to_owned(),
                message: format!("`{name}` is not a section"),
            });
        };
        inner = next;
    }
    inner.insert(last.to_owned(), toml_value(value));
    Ok(())
}

fn toml_value(text: &str) -> Value {
    format!("value = {text}")
        .parse::<Table>()
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Returns the error for an unknown key. For a variable it names the variable that was probably meant.
fn unknown_key(origins: &Origins, UnknownKey { key, nearest }: UnknownKey) -> ConfigError {
    // A section that a variable implies has no origin itself.
    let origin = origins.find(&key).or_else(|| origins.below(&key));
    let variable = match (nearest, origin) {
        (Some(nearest), Some(Origin::Variable(name))) => {
            Some(with_part(name, key.matches('.').count(), nearest))
        }
        _ => None,
    };
    let origin = origin.map_or_else(|| NO_ORIGIN.to_owned(), ToString::to_string);
    ConfigError::Unknown { origin, key, nearest, variable }
}

/// Returns the name of a variable in which the part at index `at` is replaced by `name`.
fn with_part(variable: &str, at: usize, name: &str) -> String {
    let name = name.to_ascii_uppercase();
    let parts = variable.strip_prefix(PREFIX).unwrap_or(variable).split("__").enumerate();
    let parts = parts.map(|(part, text)| if part == at { name.as_str() } else { text });
    format!("{PREFIX}{}", parts.collect::<Vec<_>>().join("__"))
}

/// Returns the error for a value of the wrong type, with its origin.
fn wrong_value(origins: &Origins, error: &toml::de::Error) -> ConfigError {
    let shown = error.to_string();
    // The deserializer names the key only in the last line of its message.
    let key = shown.trim_end().rsplit_once("in `").and_then(|(_, rest)| rest.strip_suffix('`'));
    let origin = key.map_or_else(|| NO_ORIGIN.to_owned(), |key| origins.describe(key));
    ConfigError::Syntax { origin, message: shown.trim().replace('\n', " ") }
}

/// Returns the variable that was probably meant by a variable without effect. `None` if none is similar.
fn meant_variable(name: &str) -> Option<String> {
    let rest = name.strip_prefix("WEBSVC_")?;
    if OTHER_VARIABLES.contains(&name) {
        return None;
    }
    if let Some((section, key)) = rest.split_once('_') {
        let key = key.trim_start_matches('_').to_ascii_lowercase();
        if keys::is_key(&section.to_ascii_lowercase(), &key) {
            return Some(format!("{PREFIX}{section}__{}", key.to_ascii_uppercase()));
        }
    }
    let others = OTHER_VARIABLES.iter().filter_map(|other| other.strip_prefix("WEBSVC_"));
    websvc_validate::suggest(rest, others).map(|other| format!("WEBSVC_{other}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_variables(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        load(&[], pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn variables_set_values_of_every_type() {
        let config = from_variables(&[
            ("WEBSVC__SERVER__LISTEN", "127.0.0.1:0"),
            ("WEBSVC__FETCH__ALLOW_NETWORKS", r#"["127.0.0.0/8"]"#),
            ("WEBSVC__FETCH__CONNECT_TO", r#"{ "a.test:80" = "127.0.0.1:81" }"#),
            ("WEBSVC__AUTH__REQUIRED", "false"),
            ("WEBSVC__CACHE__MAX_BYTES", "1000"),
            ("WEBSVC_API_KEY", "not a configuration key"),
        ])
        .unwrap();
        assert_eq!(config.server.listen, "127.0.0.1:0");
        assert_eq!(config.fetch.allow_networks, ["127.0.0.0/8"]);
        assert_eq!(config.fetch.connect_to["a.test:80"], "127.0.0.1:81");
        assert!(!config.auth.required);
        assert_eq!(config.cache.max_bytes, 1000);
    }

    fn deploy() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/deploy")
    }

    #[test]
    fn configuration_of_every_deployment_is_valid() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("websvc.toml");
        for (name, start) in [
            ("proxy/websvc.toml", ""),
            ("kubernetes/configmap.yaml", "websvc.toml: |\n"),
            ("kubernetes/cluster/configmap.yaml", "websvc.toml: |\n"),
            ("helm/websvc/values.yaml", "\nconfig: |\n"),
            ("helm/websvc/values.cluster.yaml", "\nconfig: |\n"),
        ] {
            let text = std::fs::read_to_string(deploy().join(name)).unwrap();
            let (_, text) = text.split_once(start).unwrap();
            std::fs::write(&file, text).unwrap();
            // The secret of the manifests of several replicas has these keys of a section of the file.
            let secrets =
                ["WEBSVC__ARTIFACTS__S3__ACCESS_KEY_ID", "WEBSVC__ARTIFACTS__S3__SECRET_ACCESS_KEY"];
            let secrets = secrets.into_iter().filter(|_| name.contains("/cluster/"));
            let variables = secrets.map(|secret| (secret.to_owned(), "x".to_owned()));
            let config = load(std::slice::from_ref(&file), variables).unwrap();
            assert_eq!(config.warnings(), Vec::<String>::new(), "{name}");
            // The chart sets the proxies with a variable.
            assert!(name.starts_with("helm") || !config.server.trusted_proxies.is_empty(), "{name}");
        }
    }

    /// Calls `check` with each file below `directory`.
    fn for_each_file(directory: &Path, check: &mut dyn FnMut(&Path)) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { for_each_file(&path, check) } else { check(&path) }
        }
    }

    #[test]
    fn every_variable_of_the_deployment_files_is_known() {
        let mut count = 0;
        for_each_file(&deploy(), &mut |path| {
            let text = std::fs::read_to_string(path).unwrap();
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for name in words.filter(|word| word.starts_with("WEBSVC_")) {
                count += 1;
                match from_variables(&[(name, "x")]) {
                    Ok(config) => assert!(config.misspelled.is_empty(), "{}: {name}", path.display()),
                    Err(error) => {
                        assert!(!matches!(error, ConfigError::Unknown { .. }), "{}: {error}", path.display());
                    }
                }
            }
        });
        assert!(count > 50, "{count} variables");
    }

    #[test]
    fn chart_has_the_ports_and_probes_of_the_manifests() {
        let lines = |name: &str| -> Vec<String> {
            let text = std::fs::read_to_string(deploy().join(name)).unwrap();
            let is_checked =
                |line: &&str| ["args:", "containerPort:", "httpGet:"].iter().any(|key| line.starts_with(key));
            text.lines().map(str::trim).filter(is_checked).map(str::to_owned).collect()
        };
        let manifests = lines("kubernetes/base/statefulset.yaml");
        assert_eq!(lines("helm/websvc/templates/statefulset.yaml"), manifests);
        let listen = Config::default().server.listen;
        let (_, port) = listen.rsplit_once(':').unwrap();
        assert!(manifests.contains(&format!("containerPort: {port}")), "{manifests:?}");
    }

    #[test]
    fn variable_overrides_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("websvc.toml");
        std::fs::write(&file, "[cache]\nmax_bytes = 1\nmax_age_days = 2").unwrap();
        let variables = [("WEBSVC__CACHE__MAX_BYTES".to_owned(), "5".to_owned())];
        let config = load(&[file], variables.into_iter()).unwrap();
        assert_eq!((config.cache.max_bytes, config.cache.max_age_days), (5, 2));
    }

    #[test]
    fn later_files_override_keys_and_keep_the_rest_of_a_section() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = ["a.toml", "b.toml"].map(|name| directory.path().join(name));
        std::fs::write(&first, "[cache]\nmax_bytes = 1\nmax_age_days = 2\n[search]\nproviders = ['index']")
            .unwrap();
        std::fs::write(&second, "[cache]\nmax_bytes = 5\n[search]\nproviders = ['arxiv']").unwrap();
        let files = [first, second.clone()];
        let config = load(&files, std::iter::empty()).unwrap();
        assert_eq!((config.cache.max_bytes, config.cache.max_age_days), (5, 2));
        assert_eq!((config.search.providers.len(), &config.files[..]), (1, &files[..]));
        std::fs::write(&second, "[cache]\nmax_byte = 5").unwrap();
        let error = load(&files, std::iter::empty()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{}:2: unknown configuration key", second.display())), "{error}");
    }

    #[test]
    fn unknown_variable_is_reported_with_the_most_similar() {
        let error = from_variables(&[("WEBSVC__SERVER__LISEN", "x")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "WEBSVC__SERVER__LISEN: unknown configuration key `server.lisen`, did you mean `listen`? The variable is WEBSVC__SERVER__LISTEN"
        );
        let error = from_variables(&[("WEBSVC__SERVR__LISTEN", "x")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "WEBSVC__SERVR__LISTEN: unknown configuration key `servr`, did you mean `server`? The variable is WEBSVC__SERVER__LISTEN"
        );
    }

    #[test]
    fn misspelled_variables_are_reported_with_the_meant_ones() {
        let config = from_variables(&[
            ("WEBSVC_SERVER__LISTEN", "x"),
            ("WEBSVC_FETCH_CA_FILE", "x"),
            ("WEBSVC_LIMITS_SEARCH_CONCURRENCY", "x"),
            ("WEBSVC_DATADIR", "x"),
            ("WEBSVC_DATA_DIR", "x"),
            ("WEBSVC_TEST_CHROMIUM", "x"),
            ("WEBSVC_PICTURES", "x"),
            ("WEBSVC_CACHE_DIR", "x"),
        ]);
        let pairs = [
            ("WEBSVC_SERVER__LISTEN", "WEBSVC__SERVER__LISTEN"),
            ("WEBSVC_FETCH_CA_FILE", "WEBSVC__FETCH__CA_FILE"),
            ("WEBSVC_LIMITS_SEARCH_CONCURRENCY", "WEBSVC__LIMITS__SEARCH_CONCURRENCY"),
            ("WEBSVC_DATADIR", "WEBSVC_DATA_DIR"),
        ];
        let pairs = pairs.map(|(name, meant)| (name.to_owned(), meant.to_owned()));
        assert_eq!(config.unwrap().misspelled, pairs);
    }

    #[track_caller]
    fn check_file(text: &str, expected: &str) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.toml");
        std::fs::write(&file, text).unwrap();
        let error = load(std::slice::from_ref(&file), std::iter::empty()).unwrap_err().to_string();
        let error = error.strip_prefix(&format!("{}:", file.display())).unwrap_or(&error);
        assert_eq!(error, expected, "{text}");
    }

    #[test]
    fn error_in_a_file_names_file_and_line() {
        check_file("[server]\nlisten = '1'\n[fetch\n", "3: unclosed table, expected `]`");
        check_file(
            "[server]\n\nlisten = 5\n",
            "3: invalid type: integer `5`, expected a string in `server.listen`",
        );
        check_file(
            "[cache]\nmax_bytes = 1\nmax_byte = 2\n",
            "3: unknown configuration key `cache.max_byte`, did you mean `max_bytes`?",
        );
        check_file("\n[sever]\n", "2: unknown configuration key `sever`, did you mean `server`?");
        check_file("# x\n[server.tls]\ncert = 'a'", "2: missing field `key` in `server.tls`");
    }

    #[test]
    fn time_above_its_maximum_is_rejected() {
        assert!(from_variables(&[("WEBSVC__AGENT__MAX_SECONDS", "86400")]).is_ok());
        let error = from_variables(&[("WEBSVC__AGENT__MAX_SECONDS", "86401")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "WEBSVC__AGENT__MAX_SECONDS: agent.max_seconds must be at most 86400, not 86401"
        );
        check_file(
            "[monitor]\ncheck_timeout_minutes = 9223372036854775807\n",
            "2: monitor.check_timeout_minutes must be at most 10080, not 9223372036854775807",
        );
    }

    #[test]
    fn value_of_the_wrong_type_names_the_key() {
        let error = from_variables(&[("WEBSVC__AUTH__REQUIRED", "maybe")]).unwrap_err().to_string();
        assert!(error.starts_with("WEBSVC__AUTH__REQUIRED: ") && error.contains("auth.required"), "{error}");
    }
}
