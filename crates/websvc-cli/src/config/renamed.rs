//! Renamed configuration keys: the old names and values keep working for one release, with a warning.

use toml::{Table, Value};

use super::origins::Origins;
use super::sources::ConfigError;

/// A key that has a new name.
struct RenamedKey {
    /// Section of the key; `*` stands for a name that the operator chooses.
    section: &'static str,
    old: &'static str,
    new: &'static str,
    /// Values that have a new name, too: the old ones and the new ones.
    values: &'static [(&'static str, &'static str)],
}

/// All renamed keys.
const RENAMED_KEYS: &[RenamedKey] = &[
    RenamedKey::new("limits", "queue", "queue_len"),
    RenamedKey::new("limits", "processors", "search_concurrency"),
    RenamedKey::new("limits", "overload_wait_ms", "overload_target_ms"),
    RenamedKey::new("limits", "overload_after_ms", "overload_interval_ms"),
    RenamedKey {
        values: &[("answer", "adaptive"), ("asked", "requested")],
        ..RenamedKey::new("jobs", "pause", "pace")
    },
    RenamedKey::new("jobs", "per_host", "max_per_host"),
    RenamedKey::new("jobs", "keep_hours", "retention_hours"),
    RenamedKey::new("jobs", "max_kept_per_team", "max_stored_per_team"),
    RenamedKey::new("webhooks", "per_host", "max_per_host"),
    RenamedKey::new("webhooks", "keep_hours", "retention_hours"),
    RenamedKey::new("webhooks", "first_pause_ms", "initial_backoff_ms"),
    RenamedKey::new("search.searxng", "breaker_pause_ms", "breaker_open_ms"),
    RenamedKey::new("search.sources.*", "breaker_pause_ms", "breaker_open_ms"),
    RenamedKey::new("threat", "breaker_pause_ms", "breaker_open_ms"),
    RenamedKey::new("threat", "remember_risky_s", "cache_risky_s"),
    RenamedKey::new("threat", "remember_clean_s", "cache_clean_s"),
    RenamedKey::new("browser", "lists", "blocklists"),
    RenamedKey::new("browser", "egress_from", "egress_allowed_networks"),
    RenamedKey::new("cache", "memory_bytes", "output_memory_bytes"),
];

impl RenamedKey {
    const fn new(section: &'static str, old: &'static str, new: &'static str) -> Self {
        Self { section, old, new, values: &[] }
    }

    /// Renames the key in one section and adds a warning.
    fn apply(&self, section: &str, table: &mut Table, result: &mut Renaming<'_>) -> Result<(), ConfigError> {
        let Some(value) = table.remove(self.old) else { return Ok(()) };
        let (old, new) = (format!("{section}.{}", self.old), format!("{section}.{}", self.new));
        let origin = result.origins.describe(&old);
        if table.contains_key(self.new) {
            return Err(ConfigError::Renamed { origin, old, new_origin: result.origins.describe(&new), new });
        }
        let new_value =
            self.values.iter().find(|(value_old, _)| value.as_str() == Some(value_old)).map(|(_, new)| *new);
        let usage = new_value.map_or_else(String::new, |value| format!(" = \"{value}\""));
        result.warnings.push(format!("configuration key {old} is deprecated, use {new}{usage} ({origin})"));
        result.origins.add_renamed(&old, &new);
        table.insert(self.new.to_owned(), new_value.map_or(value, Value::from));
        Ok(())
    }
}

/// State of the renaming of a document.
struct Renaming<'a> {
    origins: &'a mut Origins,
    warnings: Vec<String>,
}

impl Renaming<'_> {
    /// Applies `key` to all sections of `table` that match `pattern`; `path` is the path of `table`.
    fn walk(
        &mut self,
        key: &RenamedKey,
        pattern: &str,
        path: &str,
        table: &mut Table,
    ) -> Result<(), ConfigError> {
        let (name, rest) = pattern.split_once('.').unwrap_or((pattern, ""));
        for (section, value) in table.iter_mut().filter(|(section, _)| name == "*" || *section == name) {
            let Value::Table(inner) = value else { continue };
            let path = if path.is_empty() { section.clone() } else { format!("{path}.{section}") };
            if rest.is_empty() {
                key.apply(&path, inner, self)?;
            } else {
                self.walk(key, rest, &path, inner)?;
            }
        }
        Ok(())
    }
}

/// Replaces the old names of keys and values in `table` by the new ones. Returns a warning for each.
///
/// # Errors
/// A key is given with its old and its new name.
pub(super) fn apply_new_names(table: &mut Table, origins: &mut Origins) -> Result<Vec<String>, ConfigError> {
    let mut renaming = Renaming { origins, warnings: Vec::new() };
    for key in RENAMED_KEYS {
        renaming.walk(key, key.section, "", table)?;
    }
    Ok(renaming.warnings)
}

/// Returns the old and new names of the renamed keys of a section, by its name in the table of sections.
pub(super) fn renamed_keys(section: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let keys = RENAMED_KEYS.iter().filter(move |key| key.section == section);
    keys.map(|key| (key.old, key.new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, keys, load};

    fn renamed(text: &str) -> Result<(Table, Vec<String>), String> {
        let mut table = text.parse().unwrap();
        let warnings = apply_new_names(&mut table, &mut Origins::default());
        warnings.map(|warnings| (table, warnings)).map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(old: &str, new: &str, warning: &str) {
        let (table, warnings) = renamed(old).unwrap();
        assert_eq!(table, new.parse().unwrap(), "{old}");
        assert_eq!(warnings, [format!("configuration key {warning} (the configuration)")], "{old}");
        assert_eq!(renamed(new).unwrap(), (new.parse().unwrap(), Vec::new()), "{new}");
    }

    #[test]
    fn old_key_gets_its_new_name_with_a_warning() {
        check("limits.queue = 5", "limits.queue_len = 5", "limits.queue is deprecated, use limits.queue_len");
        check(
            "[search.sources.mine]\nkind = 'http-json'\nbreaker_pause_ms = 1",
            "[search.sources.mine]\nkind = 'http-json'\nbreaker_open_ms = 1",
            "search.sources.mine.breaker_pause_ms is deprecated, use search.sources.mine.breaker_open_ms",
        );
        check(
            "browser.lists = ['http://a.test/']",
            "browser.blocklists = ['http://a.test/']",
            "browser.lists is deprecated, use browser.blocklists",
        );
    }

    #[test]
    fn old_value_gets_its_new_name_with_a_warning() {
        let warning = |value| format!("jobs.pause is deprecated, use jobs.pace = \"{value}\"");
        check("jobs.pause = 'answer'", "jobs.pace = 'adaptive'", &warning("adaptive"));
        check("jobs.pause = 'asked'", "jobs.pace = 'requested'", &warning("requested"));
        let warning = "jobs.pause is deprecated, use jobs.pace";
        check("jobs.pause = 'requested'", "jobs.pace = 'requested'", warning);
        check("jobs.pause = 5", "jobs.pace = 5", warning);
    }

    #[test]
    fn every_old_key_is_unknown_and_every_new_key_is_known() {
        for RenamedKey { section, old, new, .. } in RENAMED_KEYS {
            let section = section.replace('*', "x");
            assert!(keys::is_key(&section, new), "{section}.{new}");
            assert!(!keys::is_key(&section, old), "{section}.{old}");
        }
    }

    #[test]
    fn old_and_new_name_together_are_an_error_that_names_both() {
        for RenamedKey { section, old, new, .. } in RENAMED_KEYS {
            let section = section.replace('*', "x");
            let error = renamed(&format!("[{section}]\n{old} = 1\n{new} = 1")).unwrap_err();
            let expected = format!(
                "the configuration: {section}.{old} is the old name of {section}.{new}, and both are set: \
                 remove {section}.{old}"
            );
            assert_eq!(error, format!("{expected} ({section}.{new} is set in the configuration)"));
        }
    }

    #[track_caller]
    fn check_load(file: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.toml");
        std::fs::write(&path, file).unwrap();
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let folder = format!("{}/", directory.path().display());
        load(Some(&path), variables).map_err(|error| error.to_string().replace(&folder, ""))
    }

    #[test]
    fn old_names_in_file_and_variables_take_effect() {
        let file = "[limits]\nqueue = 7\n[jobs]\npause = 'asked'\nper_host = 3\n[search.searxng]\nurl = 'http://a.test'\n\
                    breaker_pause_ms = 9";
        let config = check_load(file, &[("WEBSVC__CACHE__MEMORY_BYTES", "5")]).unwrap();
        assert_eq!(config.limits.queue_len, 7);
        assert_eq!(config.jobs.pace, websvc_server::Pace::Requested);
        assert_eq!(config.jobs.max_per_host.get(), 3);
        assert_eq!(config.search.searxng.unwrap().endpoint.breaker_open_ms, 9);
        assert_eq!(config.cache.output_memory_bytes, 5);
        assert_eq!(config.deprecated.len(), 5, "{:?}", config.deprecated);
        let warning = "configuration key cache.memory_bytes is deprecated, use cache.output_memory_bytes \
                       (WEBSVC__CACHE__MEMORY_BYTES)";
        assert!(config.deprecated.iter().any(|text| text == warning), "{:?}", config.deprecated);
        // An error about the value still names the line of the old key.
        let error = check_load("[limits]\n\nqueue = 'x'", &[]).unwrap_err();
        assert!(error.starts_with("a.toml:3: ") && error.contains("limits.queue_len"), "{error}");
    }

    #[test]
    fn old_name_in_the_file_and_new_name_in_a_variable_are_an_error() {
        let error = check_load("[limits]\nqueue = 7", &[("WEBSVC__LIMITS__QUEUE_LEN", "8")]).unwrap_err();
        assert_eq!(
            error,
            "a.toml:2: limits.queue is the old name of limits.queue_len, and both are set: remove limits.queue \
             (limits.queue_len is set in WEBSVC__LIMITS__QUEUE_LEN)"
        );
    }
}
