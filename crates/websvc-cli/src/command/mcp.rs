//! `websvc mcp`: search and pages as tools of a language model's program, over the standard streams.

use anyhow::Result;
use websvc_server::{AdmissionLimits, Authentication, Jobs, McpTools, Service, ServiceConfig};

use super::serve::origin;
use crate::CommandContext;
use crate::app::{self, IndexMode};

/// Runs `websvc mcp` until the standard input ends.
pub(crate) async fn mcp(setting: CommandContext) -> Result<()> {
    // It may run for days beside a server that starts later: that one is to write the index.
    let app = app::open(&setting.config, &setting.data_dir, IndexMode::Read)?;
    // The server works on jobs; no tool begins one.
    let jobs =
        Jobs::new(&app.engine, app.store.clone(), app.artifacts.clone(), app::jobs_config(&setting.config));
    let service = Service::new(ServiceConfig {
        jobs,
        engine: app.engine.clone(),
        store: app.store.clone(),
        artifacts: app.artifacts.clone(),
        uploads_dir: setting.data_dir.uploads(),
        public_url: origin(&setting.config)?,
        // Whoever starts the program may read its data anyway.
        authentication: Authentication::Open,
        open_metrics: true,
        limits: AdmissionLimits::default(),
        traces: None,
        // Events are of teams, and here is nobody's key.
        audit: None,
    });
    McpTools::new(service).serve_standard_streams().await?;
    app.close().await?;
    Ok(())
}
