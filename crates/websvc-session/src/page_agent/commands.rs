//! The seam to the page: commands of `agent-browser`.

use std::time::Duration;

use websvc_transport::BoxFuture;

/// A page that `agent-browser` commands control.
pub trait PageCommands: Send + Sync {
    /// The failure of the page itself: its browser has ended, for example.
    type Error: Send;

    /// Runs commands, one per line, and kills them after `timeout`. A command that fails is not an error.
    fn run(&self, commands: String, timeout: Duration) -> BoxFuture<'_, Result<CommandOutput, Self::Error>>;
}

/// The outcome of commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandOutput {
    /// The text that they printed.
    pub stdout: String,
    /// The reasons of their failures.
    pub stderr: String,
    /// 0 if the last one succeeded.
    pub exit_code: i32,
    /// True if they took too long and were killed.
    pub killed: bool,
}

impl CommandOutput {
    /// Returns the reason of a failure in one line; `None` for a success.
    pub(crate) fn failure(&self) -> Option<String> {
        if self.killed {
            return Some("it took too long".to_owned());
        }
        if self.exit_code == 0 {
            return None;
        }
        let first = self.stderr.lines().map(str::trim).find(|line| !line.is_empty());
        let reason = first.unwrap_or("no reason given");
        // Programs name the line of the failed command, which means nothing to the model.
        let reason = reason.strip_prefix("✗ line 1: ").unwrap_or(reason);
        Some(reason.to_owned())
    }
}
