//! `websvc doctor`: checks the configuration, data directory and external services, and suggests fixes.
//!
//! A check is a function that returns a [`Finding`]. Its caller collects the input, so that a table test can cover the
//! decision. To add a check, write it in the module of its subject and call it in that module's `check`.

mod access;
mod audit;
mod configuration;
mod data;
mod external_services;
mod finding;
mod listener;
mod llm;
mod machine;
mod mail;
mod media;
mod programs;
mod replica;
mod sessions;
mod telemetry;
mod threat;

use anyhow::{Result, bail};
use serde_json::json;
use websvc_types::counted;

use self::finding::{Finding, State};
use crate::args::{Common, Doctor};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::output::{self, Style, styled};

/// Runs `websvc doctor`. It fails if there is a problem.
pub(crate) async fn doctor(common: &Common, arguments: Doctor) -> Result<()> {
    let (mut findings, config) = configuration::check(common, arguments.listen.as_deref());
    findings.extend(run_checks(common, config.as_ref()).await);
    print(&findings, arguments.json)?;
    fail_on_problems(&findings)
}

/// Searches for a common word with all remote sources, and prints the findings. It fails if there is a problem.
pub(crate) async fn test_sources(config: &Config, as_json: bool) -> Result<()> {
    let findings = external_services::providers(config).await;
    print(&findings, as_json)?;
    fail_on_problems(&findings)
}

fn fail_on_problems(findings: &[Finding]) -> Result<()> {
    let problems = count(findings, State::Problem);
    if problems > 0 {
        bail!("{}", counted(problems, "problem", "problems"));
    }
    Ok(())
}

/// Runs all checks except those of the configuration itself. Without a valid configuration, the checks that depend on
/// it are skipped, because the defaults are not what the operator wants.
async fn run_checks(common: &Common, config: Option<&Config>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let store = match DataDir::locate(common.data_dir.as_deref()) {
        Ok(path) => {
            let (found, store) = data::check(&path, config).await;
            findings.extend(found);
            store
        }
        Err(error) => {
            findings.push(Finding::problem(
                "data directory",
                output::causes(error.as_ref()),
                "set WEBSVC_DATA_DIR to a directory that this user can write to",
            ));
            None
        }
    };
    if let Some(config) = config {
        findings.extend(listener::check(config).await);
        findings.extend(replica::check(config).await);
        findings.push(access::keys(common, config, store.as_ref()));
        findings.extend(external_services::check(config).await);
        findings.extend(threat::check(config).await);
        findings.extend(llm::check(config).await);
        findings.extend(mail::check(config).await);
        findings.extend(telemetry::check(config).await);
        findings.extend(external_services::bucket(config).await);
        findings.extend(audit::check(config, store.as_ref()).await);
    }
    findings.extend(machine::check(config));
    findings.extend(programs::check(common, config).await);
    if let Some(config) = config {
        findings.extend(sessions::check(config).await);
        findings.extend(media::check(common, config).await);
    }
    findings
}

fn print(findings: &[Finding], as_json: bool) -> Result<()> {
    let [problems, warnings] = [State::Problem, State::Warning].map(|state| count(findings, state));
    if as_json {
        return output::json(&json!({
            "ok": problems == 0, "problems": problems, "warnings": warnings, "checks": findings,
        }));
    }
    let width = findings.iter().map(|finding| finding.check.len()).max().unwrap_or_default();
    for Finding { check, state, message, advice } in findings {
        let state = styled(&format!("{:<7}", state.word()), state.style());
        output::line(&format!("{state}  {check:<width$}  {message}"))?;
        if let Some(advice) = advice {
            output::line(&format!(
                "{:width$}  {}",
                "",
                styled(&format!("-> {advice}"), Style::Bold),
                width = width + 9
            ))?;
        }
    }
    let ok_count = count(findings, State::Ok);
    output::line(&format!(
        "\n{}, {}, {ok_count} ok",
        counted(problems, "problem", "problems"),
        counted(warnings, "warning", "warnings")
    ))
}

fn count(findings: &[Finding], state: State) -> usize {
    findings.iter().filter(|finding| finding.state == state).count()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn advice_does_not_refer_to_repository_files() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/command/doctor");
        let files = [directory.clone(), directory.join("llm")]
            .into_iter()
            .flat_map(|directory| std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()));
        for path in files.filter(|path| path.is_file()) {
            let source = std::fs::read_to_string(&path).unwrap();
            let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            let reference = lines.into_iter().find(|line| line.contains("docs/"));
            assert_eq!(reference, None, "{}", path.display());
        }
    }
}
