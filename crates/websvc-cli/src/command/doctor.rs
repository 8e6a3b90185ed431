//! `websvc doctor`: checks the configuration, data directory and external services, and suggests fixes.
//!
//! A check is a function that returns a [`Finding`]. Its caller collects the input, so that a table test can cover the
//! decision. To add a check, write it in the module of its subject and add it to `run_checks`.

mod access;
mod audit;
mod configuration;
mod data;
mod external_services;
mod finding;
mod listener;
mod llm;
mod machine;
mod oidc;
mod programs;
mod semantic;
mod services;
mod sessions;

use anyhow::{Result, bail};
use serde_json::json;
use websvc_types::counted;

use self::finding::{Finding, State};
use crate::args::{Common, Doctor};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::output::{self, Style, styled};

/// Runs `websvc doctor`. It fails if there is a problem.
pub(crate) async fn run(common: &Common, arguments: Doctor) -> Result<()> {
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
    let located = DataDir::locate(common.data_dir.as_deref());
    let (mut findings, store) = match &located {
        Ok(path) => data::check(path, config).await,
        Err(error) => {
            let advice = "set WEBSVC_DATA_DIR to a directory that this user can write to";
            let problem = Finding::problem("data directory", output::causes(error.as_ref()));
            (vec![problem.advice(advice)], None)
        }
    };
    if let Some(config) = config {
        findings.extend(listener::check(config).await);
        findings.extend(services::replica(config).await);
        findings.push(access::keys(common, config, store.as_ref()));
        findings.push(external_services::dns(config).await);
        findings.extend(external_services::proxies(config).await);
        findings.extend(external_services::providers(config).await);
        add(&mut findings, services::THREAT, services::threat(config).await);
        add(&mut findings, llm::CHECK, llm::check(config).await);
        add(&mut findings, services::MAIL, services::mail(config).await);
        add(&mut findings, oidc::CHECK, oidc::check(config).await);
        add(&mut findings, services::LOG, services::log(config));
        add(&mut findings, services::TRACES, services::traces(config).await);
        add(&mut findings, external_services::ARTIFACTS, external_services::bucket(config).await);
        add(&mut findings, audit::CHECK, audit::check(config, store.as_ref()).await);
    }
    findings.extend(machine::check(config));
    findings.extend(programs::check().await);
    if let Some(config) = config {
        // A directory that cannot be located is a finding above.
        let data_dir = located.unwrap_or_default();
        add(&mut findings, semantic::CHECK, semantic::check(config, &data_dir).await);
        findings.extend(programs::browser(config).await);
        findings.extend(programs::interpreters(&data_dir, config).await);
        findings.extend(sessions::check(config).await);
        findings.extend(services::media(&data_dir, config).await);
    }
    findings
}

/// Adds the findings of a check, or that a value of the configuration is invalid.
fn add(findings: &mut Vec<Finding>, check: &str, result: Result<impl IntoIterator<Item = Finding>>) {
    match result {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::invalid(check, &error)),
    }
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
            let advice = styled(&format!("-> {advice}"), Style::Bold);
            output::line(&format!("{:width$}  {advice}", "", width = width + 9))?;
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
