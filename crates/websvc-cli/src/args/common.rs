//! Arguments of every command, arguments of commands that can use a server, and shared value parsers.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use serde::de::DeserializeOwned;
use url::Url;
use websvc_types::Format;

/// Arguments of every command.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Common {
    /// Configuration file (TOML); repeat for several, of which later ones override; every key can also be set as
    /// WEBSVC__SECTION__KEY [env: WEBSVC_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Directory of index, cache and keys [default: the platform's data directory for websvc] [env: WEBSVC_DATA_DIR]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

impl Common {
    /// Fills missing arguments from their environment variables.
    #[must_use]
    pub(crate) fn with_variables(self) -> Self {
        let path = |name| variable(name).map(PathBuf::from);
        let config =
            if self.config.is_empty() { path("WEBSVC_CONFIG").into_iter().collect() } else { self.config };
        Self { config, data_dir: self.data_dir.or_else(|| path("WEBSVC_DATA_DIR")) }
    }

    /// Returns a shell command line of websvc for the same data directory and configuration, with absolute paths.
    pub(crate) fn command(&self, arguments: &str) -> String {
        let mut line = format!("websvc {arguments}");
        let data_dir = self.data_dir.iter().map(|path| ("--data-dir", path));
        for (option, path) in data_dir.chain(self.config.iter().map(|path| ("--config", path))) {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            line.push_str(&format!(" {option} {}", quoted(&path.to_string_lossy())));
        }
        line
    }
}

/// Returns an environment variable. An empty one counts as unset, because compose files set it so.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Quotes a word for a shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Parses an address to listen on, which stays as it is.
pub(crate) fn listen_address(text: &str) -> Result<String, String> {
    if text.parse::<u16>().is_ok() {
        return Err(format!(
            "the host is missing: use 127.0.0.1:{text} for this machine only, or 0.0.0.0:{text} for everyone who can \
             reach this machine"
        ));
    }
    let port =
        text.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
    match port {
        Some(Ok(_port)) => Ok(text.to_owned()),
        Some(Err(_)) => Err("the port is not a number from 0 to 65535, as in 127.0.0.1:3002".to_owned()),
        None => Err("not in the form host:port, such as 127.0.0.1:3002".to_owned()),
    }
}

/// Returns a parser for the formats that need no options.
pub(crate) fn format_name() -> PossibleValuesParser {
    let is_plain = |name: &&&str| crate::command::format(name).is_ok();
    Format::NAMES.iter().filter(is_plain).copied().collect::<Vec<_>>().into()
}

/// Returns a parser for names of a type of the API.
pub(crate) fn wire_name<T>(names: &[&'static str]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.iter().copied())
        .try_map(|name| serde_json::from_value::<T>(serde_json::Value::String(name)))
}

/// Checks the value of `server.listen`.
///
/// # Errors
/// Names the part that is missing or malformed.
pub(crate) fn check_listen(text: &str) -> Result<()> {
    listen_address(text).map(drop).map_err(|error| anyhow!("server.listen is {text:?}: {error}"))
}

/// The server that runs the command instead of this process.
#[derive(Debug, Clone, Args)]
pub(crate) struct Remote {
    /// Use this server, with its own configuration, instead of the local data directory and configuration
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<Url>,
    /// API key for --server [env: WEBSVC_API_KEY]
    #[arg(long, value_name = "KEY", requires = "server")]
    pub(super) api_key: Option<String>,
}

/// The server of a command that always uses one.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Server that runs the command
    #[arg(long, global = true, value_name = "URL", default_value = DEFAULT_SERVER)]
    pub(crate) server: Url,
    /// API key for the server [env: WEBSVC_API_KEY]
    #[arg(long, global = true, value_name = "KEY")]
    api_key: Option<String>,
}

/// Returns a change of arguments that sets the help of `--server`.
pub(super) fn server_help(help: &'static str) -> impl FnMut(Arg) -> Arg {
    move |arg| if arg.get_id() == "server" { arg.help(help) } else { arg }
}

/// The default address of `websvc serve`.
const DEFAULT_SERVER: &str = "http://127.0.0.1:3002";

impl ServerArgs {
    /// Returns the server that runs the command.
    pub(crate) fn remote(&self) -> Remote {
        Remote { server: Some(self.server.clone()), api_key: self.api_key.clone() }
    }
}

impl Remote {
    /// Returns the API key for the server.
    pub(crate) fn key(&self) -> Option<String> {
        self.api_key.clone().or_else(|| variable(KEY_VARIABLE))
    }

    /// Returns the option that names the server, with a space before it, for a command line.
    pub(crate) fn option(&self) -> String {
        self.server.as_ref().map(|server| format!(" --server {server}")).unwrap_or_default()
    }
}

/// The variable with the key for `--server`; for `serve`, a key that is valid in addition to the stored ones.
pub(crate) const KEY_VARIABLE: &str = "WEBSVC_API_KEY";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_for_the_same_installation_is_quoted_for_a_shell() {
        let common = |data_dir: &str, config: Option<&str>| Common {
            data_dir: Some(data_dir.into()),
            config: config.into_iter().map(PathBuf::from).collect(),
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
    fn listen_address_requires_host_and_port() {
        for text in ["127.0.0.1:0", "[::1]:3002", "localhost:80", "::1:3002"] {
            assert_eq!(listen_address(text).as_deref(), Ok(text));
        }
        let error_of = |text: &str| listen_address(text).unwrap_err();
        assert!(
            error_of("27001").contains("use 127.0.0.1:27001 for this machine only"),
            "{}",
            error_of("27001")
        );
        assert!(error_of("localhost").contains("host:port"), "{}", error_of("localhost"));
        assert!(error_of(":3002").contains("host:port"), "{}", error_of(":3002"));
        assert!(error_of("localhost:http").contains("not a number"), "{}", error_of("localhost:http"));
        assert!(error_of("localhost:70000").contains("65535"), "{}", error_of("localhost:70000"));
    }
}
