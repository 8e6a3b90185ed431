//! Checks of the configuration: its syntax, keys without effect, and its values.

use super::finding::Finding;
use crate::app;
use crate::args::{Common, check_listen};
use crate::config::{self, Config};
use crate::output;

const CHECK: &str = "configuration";

/// Checks the configuration and returns it if it is valid. `listen` overrides its address.
pub(super) fn check(common: &Common, listen: Option<&str>) -> (Vec<Finding>, Option<Config>) {
    let mut config = match config::load(&common.config, std::env::vars()) {
        Ok(config) => config,
        Err(error) => return (vec![invalid(&error)], None),
    };
    if let Some(listen) = listen {
        listen.clone_into(&mut config.server.listen);
    }
    let findings = vec![keys(&config), values(&config)];
    (findings, Some(config))
}

fn invalid(error: &config::ConfigError) -> Finding {
    let advice = match error {
        config::ConfigError::Read { .. } => {
            "set --config or WEBSVC_CONFIG to an existing file that this user can read"
        }
        config::ConfigError::Syntax { .. } => {
            "correct the named place; checks that depend on the configuration were skipped"
        }
        config::ConfigError::Unknown { .. } => {
            "correct or remove the key; checks that depend on the configuration were skipped"
        }
        config::ConfigError::Preset { .. } => {
            "correct or remove the name; checks that depend on the configuration were skipped"
        }
        config::ConfigError::TooLong { .. } => {
            "set a smaller number; checks that depend on the configuration were skipped"
        }
    };
    Finding::problem(CHECK, error.to_string()).advice(advice)
}

/// Checks that all variables have an effect.
fn keys(config: &Config) -> Finding {
    let files: Vec<String> = config.files.iter().map(|path| path.display().to_string()).collect();
    let summary = match &files[..] {
        [] => "no file: defaults and the variables WEBSVC__SECTION__KEY".to_owned(),
        [file] => format!("{file} is valid"),
        files => format!("{} are valid together", files.join(", ")),
    };
    let misspelled = &config.misspelled;
    if !misspelled.is_empty() {
        let names = misspelled.iter().map(|(name, meant)| format!("{name} (did you mean {meant}?)"));
        return Finding::warning(
            CHECK,
            format!("{summary}; variables without effect: {}", names.collect::<Vec<_>>().join(", ")),
        )
        .advice("correct or remove the variables");
    }
    Finding::ok(CHECK, summary)
}

/// Checks the values that a start checks before it opens anything.
fn values(config: &Config) -> Finding {
    match check_listen(&config.server.listen).and_then(|()| app::check_values(config)) {
        Ok(()) => Finding::ok("values", "networks, proxies, certificates and limits are valid"),
        Err(error) => Finding::problem(
            "values",
            match config.origins.of_error(&error.to_string()) {
                Some(origin) => format!("{origin}: {}", output::causes(error.as_ref())),
                None => output::causes(error.as_ref()),
            },
        )
        .advice("correct the named key; `serve` does not start"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn variables_without_effect_are_a_warning() {
        let finding = keys(&Config { files: vec!["a.toml".into()], ..Config::default() });
        assert_eq!(finding, Finding::ok(CHECK, "a.toml is valid"));
        let misspelled = vec![("WEBSVC_DATADIR".to_owned(), "WEBSVC_DATA_DIR".to_owned())];
        let config = Config { misspelled, files: vec!["a.toml".into()], ..Config::default() };
        let finding = keys(&config);
        assert_eq!(finding.state, State::Warning);
        assert_eq!(
            finding.message,
            "a.toml is valid; variables without effect: WEBSVC_DATADIR (did you mean WEBSVC_DATA_DIR?)"
        );
    }

    #[test]
    fn values_that_prevent_a_start_are_problems() {
        assert_eq!(values(&Config::default()).state, State::Ok);
        for (text, expected) in [
            ("[fetch]\nallow_networks = ['10.0.0.1/8']", "fetch.allow_networks"),
            ("[fetch]\nca_file = '/no/such.pem'", "/no/such.pem"),
            ("[fetch]\nuser_agent = \"a\\u0007b\"", "fetch.user_agent"),
            ("[fetch]\nconcurrency = 1", "fetch.concurrency is 1"),
            ("[server]\nlisten = '27001'", "use 127.0.0.1:27001 for this machine only"),
            ("[fetch.connect_to]\n'a.test' = '127.0.0.1:1'", "fetch.connect_to"),
            ("[proxy]\nbasic = ['ftp://proxy.test']", "proxy.basic[0]"),
            ("[proxy.by_country]\nde = []", "proxy.by_country"),
        ] {
            let finding = values(&toml::from_str(text).unwrap());
            assert_eq!(finding.state, State::Problem, "{text}");
            assert!(finding.message.contains(expected), "{}", finding.message);
        }
    }
}
