//! The configuration: whether it can be read, whether all of it has an effect, whether its values can be used.

use std::path::Path;

use super::finding::Finding;
use crate::app;
use crate::args::{Common, check_listen};
use crate::config::{self, Config};
use crate::output;

const CHECK: &str = "configuration";

/// Checks the configuration, and returns it when there is one; `listen` wins over its address.
pub(super) fn check(common: &Common, listen: Option<&str>) -> (Vec<Finding>, Option<Config>) {
    let file = common.config.as_deref();
    let mut config = match config::load(file, std::env::vars()) {
        Ok(config) => config,
        Err(error) => return (vec![unreadable(&error)], None),
    };
    if let Some(listen) = listen {
        listen.clone_into(&mut config.server.listen);
    }
    let findings = vec![read(file, &config.not_yet, &config.misspelt), values(&config)];
    (findings, Some(config))
}

fn unreadable(error: &config::ConfigError) -> Finding {
    let advice = match error {
        config::ConfigError::Read { .. } => {
            "give a file that exists and that this user may read by --config or WEBSVC_CONFIG"
        }
        config::ConfigError::Syntax { .. } => {
            "correct the place that is named; what depends on it was not looked at"
        }
        config::ConfigError::Unknown { .. } => {
            "correct the key or take it out; what depends on the configuration was not looked at"
        }
    };
    Finding::problem(CHECK, error.to_string(), advice)
}

fn read(file: Option<&Path>, not_yet: &[String], misspelt: &[(String, String)]) -> Finding {
    let from = match file {
        Some(path) => format!("{} is valid", path.display()),
        None => "no file: the defaults, and the variables WEBSVC__SECTION__KEY".to_owned(),
    };
    if !misspelt.is_empty() {
        let names = misspelt.iter().map(|(name, meant)| format!("{name} (did you mean {meant}?)"));
        return Finding::warning(
            CHECK,
            format!("{from}; variables without effect: {}", names.collect::<Vec<_>>().join(", ")),
            "correct their names, or take them out",
        );
    }
    if not_yet.is_empty() {
        return Finding::ok(CHECK, from);
    }
    let names = not_yet.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Finding::warning(
        CHECK,
        format!("{from}; without effect: {names}"),
        "take them out: this version does not have their features",
    )
}

/// Checks what a start would check before it reaches for anything.
fn values(config: &Config) -> Finding {
    match check_listen(&config.server.listen).and_then(|()| app::check_values(config)) {
        Ok(()) => Finding::ok("values", "networks, proxies, certificates and limits can be used"),
        Err(error) => Finding::problem(
            "values",
            match config.origins.of_error(&error.to_string()) {
                Some(place) => format!("{place}: {}", output::causes(error.as_ref())),
                None => output::causes(error.as_ref()),
            },
            "correct the key that is named; `serve` does not start",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[test]
    fn keys_without_effect_are_warned_of() {
        let path = Path::new("a.toml");
        assert_eq!(read(Some(path), &[], &[]), Finding::ok(CHECK, "a.toml is valid"));
        let finding = read(Some(path), &["store".to_owned(), "server.public_url".to_owned()], &[]);
        assert_eq!(finding.state, State::Warning);
        assert_eq!(finding.message, "a.toml is valid; without effect: `store`, `server.public_url`");
        let misspelt = [("WEBSVC_DATADIR".to_owned(), "WEBSVC_DATA_DIR".to_owned())];
        let finding = read(Some(path), &[], &misspelt);
        assert_eq!(finding.state, State::Warning);
        assert!(finding.message.ends_with("WEBSVC_DATADIR (did you mean WEBSVC_DATA_DIR?)"), "{finding:?}");
    }

    #[test]
    fn values_that_a_start_would_refuse_are_problems() {
        assert_eq!(values(&Config::default()).state, State::Ok);
        for (text, expected) in [
            ("[fetch]\nallow_networks = ['10.0.0.1/8']", "fetch.allow_networks"),
            ("[fetch]\nca_file = '/no/such.pem'", "/no/such.pem"),
            ("[fetch]\nuser_agent = \"a\\u0007b\"", "fetch.user_agent"),
            ("[fetch]\nconcurrency = 1", "fetch.concurrency is 1"),
            ("[server]\nlisten = '27001'", "give 127.0.0.1:27001 for this machine alone"),
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
