//! `websvc mcp`: search and pages as tools of a language model's program, over the standard streams.

use anyhow::Result;
use websvc_server::{AdmissionLimits, Authentication, Jobs, McpTools, Service, ServiceConfig};

use super::serve::origin;
use crate::Setting;
use crate::installation::{self, IndexAccess};

/// Runs `websvc mcp` until the standard input ends.
pub(crate) async fn mcp(setting: Setting) -> Result<()> {
    // It may run for days beside a server that starts later: that one is to write the index.
    let installation = installation::open(&setting.config, &setting.data_dir, IndexAccess::Read)?;
    // The server works on jobs; no tool begins one.
    let jobs = Jobs::new(
        &installation.engine,
        installation.store.clone(),
        installation.artifacts.clone(),
        installation::jobs_config(&setting.config),
    );
    let service = Service::new(ServiceConfig {
        jobs,
        engine: installation.engine.clone(),
        store: installation.store.clone(),
        artifacts: installation.artifacts.clone(),
        uploads: setting.data_dir.uploads(),
        origin: origin(&setting.config)?,
        // Whoever starts the program may read its data anyway.
        authentication: Authentication::Open,
        open_metrics: true,
        limits: AdmissionLimits::default(),
        traces: None,
        // Events are of teams, and here is nobody's key.
        audit: None,
    });
    McpTools::of(service).serve_standard_streams().await?;
    installation.close().await?;
    Ok(())
}
