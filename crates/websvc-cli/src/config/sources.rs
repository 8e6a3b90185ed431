//! Where a configuration comes from: the file, then the environment over it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};

use super::Config;
use super::keys::{self, UnknownKey};

/// Environment variables of this prefix are configuration keys: `WEBSVC__SECTION__KEY`.
const PREFIX: &str = "WEBSVC__";

/// Why a configuration was refused. Every message names the key or the file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the configuration {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{origin} is not valid: {message}")]
    Syntax { origin: String, message: String },
    #[error("unknown configuration key `{key}`{}", suggestion(*nearest))]
    Unknown { key: String, nearest: Option<&'static str> },
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

/// Reads the file, if one is given, and lays the variables over it.
///
/// A variable's value is read as TOML (`["127.0.0.0/8"]`, `true`, `42`) and, when it is none, as a plain string.
pub(crate) fn load(
    file: Option<&Path>,
    variables: impl Iterator<Item = (String, String)>,
) -> Result<Config, ConfigError> {
    let mut table = match file {
        Some(path) => read(path)?,
        None => Table::new(),
    };
    for (name, value) in variables {
        if let Some(path) = name.strip_prefix(PREFIX) {
            set(&mut table, &name, path, &value)?;
        }
    }
    let not_yet = keys::take_not_yet(&mut table);
    if let Some(UnknownKey { key, nearest }) = keys::first_unknown_key(&table) {
        return Err(ConfigError::Unknown { key, nearest });
    }
    let mut config = Config::deserialize(Value::Table(table)).map_err(|error| ConfigError::Syntax {
        origin: "the configuration".to_owned(),
        message: error.to_string().trim().replace('\n', " "),
    })?;
    config.not_yet = not_yet;
    Ok(config)
}

fn read(path: &Path) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
        origin: path.display().to_string(),
        message: error.to_string().trim().to_owned(),
    })
}

fn set(table: &mut Table, variable: &str, path: &str, value: &str) -> Result<(), ConfigError> {
    let path = path.to_ascii_lowercase();
    let mut names: Vec<&str> = path.split("__").collect();
    let last = names.pop().unwrap_or_default();
    let mut inner = table;
    for name in names {
        let entry = inner.entry(name).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(next) = entry else {
            return Err(ConfigError::Syntax {
                origin: format!("the variable {variable}"),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn from_variables(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        load(None, pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn variables_give_every_kind_of_value() {
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

    #[test]
    fn a_variable_wins_over_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("websvc.toml");
        std::fs::write(&file, "[cache]\nmax_bytes = 1\nmax_age_days = 2").unwrap();
        let variables = [("WEBSVC__CACHE__MAX_BYTES".to_owned(), "5".to_owned())];
        let config = load(Some(&file), variables.into_iter()).unwrap();
        assert_eq!((config.cache.max_bytes, config.cache.max_age_days), (5, 2));
    }

    #[test]
    fn an_unknown_variable_is_named_with_its_neighbour() {
        let error = from_variables(&[("WEBSVC__SERVER__LISEN", "x")]).unwrap_err();
        assert_eq!(error.to_string(), "unknown configuration key `server.lisen`, did you mean `listen`?");
    }

    #[test]
    fn a_wrong_type_names_the_key() {
        let error = from_variables(&[("WEBSVC__AUTH__REQUIRED", "maybe")]).unwrap_err().to_string();
        assert!(error.contains("required"), "{error}");
    }
}
