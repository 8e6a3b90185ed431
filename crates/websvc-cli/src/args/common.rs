//! Arguments of all commands, those of commands that can go through a server, and values that several of them parse.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::Args;
use clap::builder::PossibleValuesParser;
use url::Url;
use websvc_types::Format;

/// Arguments of every command.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Common {
    /// Configuration file (TOML); every key can be given as WEBSVC__SECTION__KEY too [env: WEBSVC_CONFIG].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of index, cache and keys [default: the platform's data directory for websvc] [env: WEBSVC_DATA_DIR].
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

impl Common {
    /// Takes over the variables for what was not given.
    #[must_use]
    pub(crate) fn with_variables(self) -> Self {
        let path = |name| variable(name).map(PathBuf::from);
        Self {
            config: self.config.or_else(|| path("WEBSVC_CONFIG")),
            data_dir: self.data_dir.or_else(|| path("WEBSVC_DATA_DIR")),
        }
    }

    /// Returns another command line for the same data directory and configuration, to be pasted into a shell anywhere.
    pub(crate) fn command(&self, words: &str) -> String {
        let mut line = format!("websvc {words}");
        for (option, path) in [("--data-dir", &self.data_dir), ("--config", &self.config)] {
            if let Some(path) = path {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                line.push_str(&format!(" {option} {}", quoted(&path.to_string_lossy())));
            }
        }
        line
    }
}

/// Returns a variable of the environment. An empty one is how compose files write one that is not set.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Quotes a word for a shell where it has to be.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+:@%".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Reads an address to listen on as it is, and says what it lacks.
pub(crate) fn listen_address(text: &str) -> Result<String, String> {
    if text.parse::<u16>().is_ok() {
        return Err(format!(
            "it is a port without a host: give 127.0.0.1:{text} for this machine alone, or 0.0.0.0:{text} for all that can \
             reach it"
        ));
    }
    let port =
        text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
    match port {
        Some(Ok(_port)) => Ok(text.to_owned()),
        Some(Err(_)) => Err("its port is not a number from 0 to 65535, as in 127.0.0.1:3002".to_owned()),
        None => Err("it is not host:port, such as 127.0.0.1:3002".to_owned()),
    }
}

/// Returns the parser of a format that needs no options.
pub(crate) fn format_name() -> PossibleValuesParser {
    let is_plain = |name: &&&str| crate::command::format(name).is_ok();
    Format::NAMES.iter().filter(is_plain).copied().collect::<Vec<_>>().into()
}

/// Checks the address of the configuration to listen on.
///
/// # Errors
/// The part that is missing or malformed.
pub(crate) fn check_listen(text: &str) -> Result<()> {
    listen_address(text).map(drop).map_err(|error| anyhow!("server.listen is {text:?}: {error}"))
}

/// A server that does the work instead of this process.
#[derive(Debug, Clone, Args)]
pub(crate) struct Remote {
    /// Has this server do the work, by its own configuration; the data directory and configuration here are not used.
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<Url>,
    /// The key for --server [env: WEBSVC_API_KEY].
    #[arg(long, value_name = "KEY", requires = "server")]
    api_key: Option<String>,
}

impl Remote {
    /// Returns the key for the server.
    pub(crate) fn key(&self) -> Option<String> {
        self.api_key.clone().or_else(|| variable(KEY_VARIABLE))
    }
}

/// The variable that holds the key for `--server`; for `serve` one that is valid beside the stored ones.
pub(crate) const KEY_VARIABLE: &str = "WEBSVC_API_KEY";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_for_the_same_installation_is_fit_for_a_shell() {
        let common = |data_dir: &str, config: Option<&str>| Common {
            data_dir: Some(data_dir.into()),
            config: config.map(PathBuf::from),
        };
        assert_eq!(Common::default().command("keys list"), "websvc keys list");
        assert_eq!(
            common("/var/lib/websvc", None).command("keys list"),
            "websvc keys list --data-dir /var/lib/websvc"
        );
        assert_eq!(
            common("/my data/it's", Some("/etc/a.toml")).command("keys list"),
            r"websvc keys list --data-dir '/my data/it'\''s' --config /etc/a.toml"
        );
        let relative = common("data", None).command("doctor");
        assert!(
            relative.starts_with("websvc doctor --data-dir /") && relative.ends_with("/data"),
            "{relative}"
        );
    }

    #[test]
    fn listen_address_has_host_and_port() {
        for text in ["127.0.0.1:0", "[::1]:3002", "localhost:80", "::1:3002"] {
            assert_eq!(listen_address(text).as_deref(), Ok(text));
        }
        let refused = |text: &str| listen_address(text).unwrap_err();
        assert!(
            refused("27001").contains("give 127.0.0.1:27001 for this machine alone"),
            "{}",
            refused("27001")
        );
        assert!(refused("localhost").contains("host:port"), "{}", refused("localhost"));
        assert!(refused(":3002").contains("host:port"), "{}", refused(":3002"));
        assert!(refused("localhost:http").contains("not a number"), "{}", refused("localhost:http"));
        assert!(refused("localhost:70000").contains("65535"), "{}", refused("localhost:70000"));
    }
}
