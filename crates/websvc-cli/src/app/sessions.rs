//! The configured limits of browser sessions, and the programs that run their code.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use websvc_server::SessionsConfig;
use websvc_server::session::{
    Interpreter, InterpreterConfig, InterpreterError, Language, Sandbox, SandboxConfig, WorkerConfig,
};

use crate::args::{RUN_INTERPRETER, RUN_PROGRAM};
use crate::config::{self, Config};

/// Returns the limits of browser sessions, whose code this program and the configured interpreters run. Without a browser,
/// there are none.
pub(crate) async fn sessions_config(config: &Config, data_dir: &Path) -> Result<SessionsConfig> {
    let worker = worker_config()?;
    let mut interpreters = Vec::new();
    for (key, prepared) in interpreters_of(config, data_dir).await? {
        let interpreter = prepared.with_context(|| format!("{key} cannot be used"))?;
        tracing::info!(key, %interpreter, "code of browser sessions has an interpreter");
        interpreters.push(interpreter);
    }
    Ok(SessionsConfig {
        max_sessions: if config.browser.concurrency == 0 { 0 } else { config.interact.max_sessions },
        max_sessions_per_team: config.interact.max_sessions_per_team.get(),
        open_timeout: Duration::from_secs(config.interact.open_timeout_s.get()),
        runner: Some(Arc::new(Sandbox::new(worker, interpreters))),
    })
}

/// Returns the command of the worker processes with the embedded engine.
pub(crate) fn worker_config() -> Result<WorkerConfig> {
    Ok(WorkerConfig::new(this_program()?, vec![RUN_PROGRAM.to_owned()]))
}

/// Prepares the configured interpreters, and returns each with the name of its key.
///
/// # Errors
/// The configuration is incomplete.
pub(crate) async fn interpreters_of(
    config: &Config,
    data_dir: &Path,
) -> Result<Vec<(&'static str, Result<Interpreter, InterpreterError>)>> {
    let config::Interact { bubblewrap, interpreters, .. } = &config.interact;
    let config::Interpreters { python, node, node_library, bash, max_memory_bytes } = interpreters;
    let configured = [
        ("interact.interpreters.python", Language::Python, python, None),
        ("interact.interpreters.node", Language::Node, node, node_library.clone()),
        ("interact.interpreters.bash", Language::Bash, bash, None),
    ];
    if node.is_some() != node_library.is_some() {
        bail!(
            "interact.interpreters.node and interact.interpreters.node_library, the folder of the npm package \
             playwright-core, are set together or not at all"
        );
    }
    let mut prepared = Vec::new();
    for (key, language, program, library) in configured {
        let Some(program) = program.clone() else { continue };
        let Some(bubblewrap) = bubblewrap else {
            bail!(
                "{key} needs a sandbox: set interact.bubblewrap to the path of bwrap (Debian package bubblewrap)"
            );
        };
        let sandbox = SandboxConfig {
            bubblewrap: bubblewrap.clone(),
            program: this_program()?,
            guest_arguments: vec![RUN_INTERPRETER.to_owned()],
            worker_arguments: vec![RUN_PROGRAM.to_owned()],
            memory_bytes: max_memory_bytes.get(),
            hidden: hidden(config, data_dir),
        };
        let interpreter = InterpreterConfig { language, program, library };
        prepared.push((key, Interpreter::prepare(interpreter, sandbox).await));
    }
    Ok(prepared)
}

/// Returns the files and directories that no program may see: those with secrets of the operator or data of clients.
pub(super) fn hidden(config: &Config, data_dir: &Path) -> Vec<PathBuf> {
    let tls_key = config.server.tls.as_ref().map(|tls| &tls.key);
    let configured = [tls_key, config.artifacts.path.as_ref(), config.audit.file.as_ref()];
    let configured = config.files.iter().chain(configured.into_iter().flatten());
    // Browsers have their profiles in the directory of temporary files.
    let always = [data_dir.to_owned(), std::env::temp_dir()];
    always.into_iter().chain(configured.cloned()).collect()
}

pub(super) fn this_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find the program of this process")
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that an interpreter is refused whose directory contains a file of the service.
    async fn check(folder: &Path, name: &str, set: impl Fn(&mut Config, PathBuf)) {
        let mut config = Config::default();
        let bash = folder.join("bin/bash");
        config.interact.bubblewrap = Some(bash.clone());
        config.interact.interpreters.bash = Some(bash);
        set(&mut config, folder.join(name));
        let mut prepared = interpreters_of(&config, Path::new("/var/lib/websvc")).await.unwrap();
        let error = prepared.remove(0).1.unwrap_err().to_string();
        assert!(error.contains(&format!("/{name} would be visible to programs")), "{error}");
    }

    #[tokio::test]
    async fn interpreter_next_to_secrets_or_stored_data_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::create_dir(folder.join("bin")).unwrap();
        std::fs::write(folder.join("bin/bash"), "").unwrap();
        check(folder, "websvc.toml", |config, path| config.files = vec![path]).await;
        check(folder, "key.pem", |config, key| {
            config.server.tls = Some(config::Tls { cert: "/nowhere".into(), key });
        })
        .await;
        check(folder, "artifacts", |config, path| config.artifacts.path = Some(path)).await;
        check(folder, "audit.jsonl", |config, path| config.audit.file = Some(path)).await;
    }
}
