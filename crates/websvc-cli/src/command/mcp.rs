//! `websvc mcp`: serves search, scraping and monitors as MCP tools on stdin and stdout.

use anyhow::Result;
use websvc_server::{AdmissionLimits, Authentication, McpTools, Service, ServiceConfig, SessionsConfig};

use super::serve::origin;
use crate::CommandContext;
use crate::app::{self, IndexMode};

/// Runs `websvc mcp` until the end of stdin.
pub(crate) async fn run(context: CommandContext) -> Result<()> {
    // This process may run for days. A server that starts later must be able to write the index.
    let app = app::open(&context.config, &context.data_dir, IndexMode::Read)?;
    // Their work is that of a server with the same data: no tool starts a job, and monitors and
    // agent runs only change in the database.
    let service = Service::new(ServiceConfig {
        jobs: app.jobs(&context.config),
        monitors: app::monitors_config(&context.config)?,
        runs: app::runs_config(&context.config),
        // No tool starts one.
        browser_sessions: SessionsConfig { max_sessions: 0, ..SessionsConfig::default() },
        replica: None,
        engine: app.engine.clone(),
        store: app.store.clone(),
        artifacts: app.artifacts.clone(),
        uploads_dir: context.data_dir.uploads(),
        public_url: origin(&context.config)?,
        // The user who starts the process can read the data anyway.
        authentication: Authentication::Open,
        oauth: None,
        oidc: None,
        open_metrics: true,
        limits: AdmissionLimits::default(),
        traces: None,
        // Audit events belong to a team, and requests have no key here.
        audit: None,
    });
    McpTools::new(service).serve_standard_streams().await?;
    app.close().await?;
    Ok(())
}
