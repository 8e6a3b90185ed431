//! `websvc serve`: runs the service until a stop signal.

mod first_start;

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::sync::oneshot;
use url::Url;
use websvc_browser::Browser;
use websvc_server::audit::Audit;
use websvc_server::{Authentication, OauthIssuer, PublicUrlConfig, Service, ServiceConfig};
use websvc_stage::TraceMetrics;
use websvc_store::{StaticKeys, Store};
use websvc_transport::{BoxFuture, Server, ServerConfig, ShutdownReport, TlsFiles};

use crate::allocator;
use crate::app::{self, App, IndexMode};
use crate::args::{Common, KEY_VARIABLE, Serve, check_listen, variable};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::output;
use crate::{CommandContext, TraceExport};

/// Time that the shutdown waits for the delivery of audit events. The rest is delivered after the next start.
const AUDIT_DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of connections to the listener for metrics, which serves only a few collectors.
const MAX_METRICS_CONNECTIONS: usize = 64;

/// The variable with an admin key that is valid in addition to the stored ones.
const ADMIN_KEY_VARIABLE: &str = "WEBSVC_ADMIN_KEY";

/// Runs `websvc serve`.
pub(crate) async fn run(
    context: CommandContext,
    arguments: Serve,
    tracing: Option<TraceExport>,
) -> Result<()> {
    let CommandContext { mut config, data_dir, common } = context;
    if let Some(listen) = arguments.listen {
        config.server.listen = listen;
    }
    let exporting = tracing
        .map(|TraceExport { settings, exporter }| anyhow::Ok((settings.exporter_config(&config)?, exporter)))
        .transpose()?;
    let metrics = exporting.as_ref().map(|(_, exporter)| exporter.metrics());
    let keys = static_keys()?;
    let running = start(&config, &data_dir, metrics).await?;
    require_auth_off_loopback(&config, running.server.local_addr(), arguments.insecure)?;
    running.evict_stale_pages(&config).await?;
    // Registered before the line is printed: its reader may send a signal at once.
    let stop = stop_signal()?;
    // Last, because a start that fails must not be the one that shows the key.
    announce_key(&config, keys, &running, &common)?;
    output::line(&format!("websvc listening on {}", running.address()))?;
    let Some((exporter_config, exporter)) = exporting else { return running.run(Box::pin(stop)).await };
    // Requests that are in flight at the end have spans, too, so the exporter stops after the server.
    let (done, ended) = oneshot::channel();
    let ended = async move { ended.await.unwrap_or_default() };
    let serving = async move {
        let result = running.run(Box::pin(stop)).await;
        // The receiver lives until the exporter ends.
        let _ = done.send(());
        result
    };
    let (result, ()) = tokio::join!(serving, exporter.run(exporter_config, ended));
    result
}

/// A service that is bound to its addresses.
#[derive(Debug)]
pub(crate) struct Running {
    server: Server,
    /// Separate listener for `/metrics`, if `server.metrics_listen` is set.
    metrics: Option<Server>,
    service: Service,
    app: App,
    audit: Option<Audit>,
}

/// Opens the app and binds the addresses. No request is served before [`Running::run`].
pub(crate) async fn start(
    config: &Config,
    data_dir: &DataDir,
    traces: Option<Arc<TraceMetrics>>,
) -> Result<Running> {
    check_listen(&config.server.listen)?;
    let access = IndexMode::Write(data_dir.lock()?);
    let media = app::media_tools(config, data_dir.path()).await?;
    let app = app::open_with(config, data_dir, access, app::Service { media, encodes: true })?;
    // A killed process leaves the directory of its browser, whether this process has a browser or not.
    tokio::spawn(Browser::remove_abandoned_directories());
    tokio::spawn(allocator::trim_when_idle());
    // The browser starts when a page needs it. Warnings that are known before are logged now.
    let browser = app.engine.scraper().configured_browser();
    for warning in browser.map(|browser| browser.health().warnings).into_iter().flatten() {
        tracing::warn!("{warning}");
    }
    let audit = app::audit(config, data_dir)?;
    if audit.is_none() {
        warn_unused_audit_sinks(&app.store)?;
    }
    let authentication = if config.auth.required { Authentication::Required } else { Authentication::Open };
    let jobs = app.jobs(config);
    let mut listen = listener(config, &config.server.listen, config.server.max_connections);
    let tls = config.server.tls.as_ref();
    listen.tls = tls.map(|tls| TlsFiles { cert: tls.cert.clone(), key: tls.key.clone() });
    let server = Server::bind(listen).await?;
    // Plain HTTP, for the operator's internal network.
    let metrics = match &config.server.metrics_listen {
        Some(listen) => Some(Server::bind(listener(config, listen, MAX_METRICS_CONNECTIONS)).await?),
        None => None,
    };
    let service = Service::new(ServiceConfig {
        jobs,
        monitors: app::monitors_config(config)?,
        runs: app::runs_config(config),
        browser_sessions: app::sessions_config(config, data_dir.path()).await?,
        replica: Some(app::replica_config(config, server.local_addr())?),
        engine: app.engine.clone(),
        store: app.store.clone(),
        artifacts: app.artifacts.clone(),
        uploads_dir: data_dir.uploads(),
        oauth: oauth(config)?,
        oidc: app::oidc(config)?,
        public_url: origin(config)?,
        authentication,
        open_metrics: server.local_addr().ip().is_loopback(),
        limits: app::admission_limits(config),
        traces,
        audit: audit.clone(),
    });
    Ok(Running { server, metrics, service, app, audit })
}

impl Running {
    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// Removes the cached pages that expired while the service was stopped. Storing a page removes later ones.
    async fn evict_stale_pages(&self, config: &Config) -> Result<()> {
        let (store, limits) = (self.app.store.clone(), app::cache_limits(config));
        websvc_transport::spawn_blocking(move || store.evict_pages(&limits, store.now_ms())).await??;
        Ok(())
    }

    /// Returns the URL of the listener.
    pub(crate) fn address(&self) -> String {
        format!("{}://{}", self.server.scheme(), self.server.local_addr())
    }

    /// Serves until `stop` completes, finishes the requests in flight and closes the index.
    pub(crate) async fn run(self, stop: BoxFuture<'static, ()>) -> Result<()> {
        let Self { server, metrics, service, app, audit } = self;
        let (stopping, metrics_service, clock_service) = (service.clone(), service.clone(), service.clone());
        let stop = async move {
            stop.await;
            tracing::info!("stopping");
            stopping.stop().await;
        };
        let (jobs, monitors) = (service.jobs().clone(), service.monitors().clone());
        let runs = service.runs().clone();
        let browser_sessions = service.browser_sessions().clone();
        service.prepare().await;
        let handler = move |request| {
            let service = service.clone();
            async move { service.handle(request).await }
        };
        // The delivery of audit events ends after the last request.
        let (serving_guard, serving_ended) = oneshot::channel::<()>();
        let serving = async {
            let drained = tokio::select! {
                drained = server.run(handler, stop) => drained,
                never = app.artifacts.sweep_periodically() => match never {},
                never = jobs.run() => match never {},
                never = monitors.run() => match never {},
                never = runs.run() => match never {},
                never = app.engine.sweep_deleted_teams() => match never {},
                never = app.engine.write_waiting_pages() => match never {},
                never = app.engine.sweep_page_snapshots() => match never {},
                never = clock_service.watch_clock() => match never {},
                never = serve_metrics(metrics, metrics_service) => match never {},
            };
            browser_sessions.shut_down().await;
            drop(serving_guard);
            drained
        };
        let delivering = async {
            if let Some(audit) = audit {
                let ended = async { drop(serving_ended.await) };
                audit.deliver(ended, AUDIT_DRAIN_TIMEOUT).await;
            }
        };
        let (drained, ()) = tokio::join!(serving, delivering);
        jobs.stop().await;
        let ShutdownReport { finished, aborted } = drained?;
        tracing::info!(finished, aborted, "stopped");
        app.close().await?;
        Ok(())
    }
}

/// Serves metrics at their separate address, if there is one, as long as the future is polled.
async fn serve_metrics(metrics: Option<Server>, service: Service) -> Infallible {
    if let Some(server) = metrics {
        tracing::info!(address = %server.local_addr(), "serving metrics without a key");
        let handler = move |request| {
            let service = service.clone();
            async move { service.handle_metrics(request).await }
        };
        if let Err(error) = server.run(handler, std::future::pending()).await {
            tracing::error!(%error, "the listener for metrics failed");
        }
    }
    std::future::pending().await
}

/// Logs a warning for each team with audit events if no sink is configured.
fn warn_unused_audit_sinks(store: &Store) -> Result<()> {
    for team in store.list_teams()?.into_iter().filter(|team| team.audit) {
        tracing::warn!(team = team.name, "audit events are on for the team, but [audit] has no sink");
    }
    Ok(())
}

/// Returns the configuration of a listener without TLS.
fn listener(config: &Config, listen: &str, max_connections: usize) -> ServerConfig {
    let mut server = ServerConfig::new(listen).with_error_reply(Service::error_reply);
    server.max_connections = max_connections;
    server.drain_timeout = Duration::from_millis(config.server.drain_timeout_ms);
    server
}

/// Returns the configuration of the service's public URL.
pub(super) fn origin(config: &Config) -> Result<PublicUrlConfig> {
    let server = &config.server;
    let public_url = server.public_url.as_ref().map(|url| url.parse::<Url>().context("server.public_url"));
    let public_url = public_url.transpose()?;
    if let Some(url) = &public_url {
        ensure!(
            matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none(),
            "server.public_url: {url} is not an http or https URL without query and fragment"
        );
    }
    let networks =
        server.trusted_proxies.iter().map(|network| network.parse().context("server.trusted_proxies"));
    Ok(PublicUrlConfig {
        public_url,
        scheme: if server.tls.is_some() { "https" } else { "http" },
        trusted_proxies: networks.collect::<Result<_>>()?,
    })
}

/// Returns the issuer of OAuth tokens, if OAuth is on.
fn oauth(config: &Config) -> Result<Option<OauthIssuer>> {
    if !config.auth.oauth.enabled {
        return Ok(None);
    }
    ensure!(
        config.auth.required,
        "auth.oauth.enabled is true, but auth.required is false: no client needs a token"
    );
    let public_url = origin(config)?.public_url.context(
        "auth.oauth.enabled is true, but server.public_url is missing: clients get tokens for this URL",
    )?;
    let issuer = OauthIssuer::new(&public_url).context("server.public_url")?;
    let schemes = config.auth.oauth.redirect_schemes.clone();
    Ok(Some(issuer.with_redirect_schemes(schemes).context("auth.oauth.redirect_schemes")?))
}

/// Fails if the service would accept requests without a key on an address other than loopback.
fn require_auth_off_loopback(config: &Config, address: SocketAddr, insecure: bool) -> Result<()> {
    if !config.auth.required && !address.ip().is_loopback() && !insecure {
        bail!(
            "auth.required is false and {address} is not a loopback address: everyone who can reach it could use \
             this service; use --insecure to allow this"
        );
    }
    Ok(())
}

/// Returns the keys of the environment. Nothing may be created or printed before they are valid.
pub(crate) fn static_keys() -> Result<StaticKeys> {
    let mut keys = StaticKeys::default();
    // An empty variable is an error here: if a secret got lost, the service must not start with other keys.
    if let Ok(key) = std::env::var(KEY_VARIABLE) {
        keys.set_key(&key).context(KEY_VARIABLE)?;
    }
    if let Some(key) = variable(ADMIN_KEY_VARIABLE) {
        keys.set_admin_key(&key).context(ADMIN_KEY_VARIABLE)?;
    }
    Ok(keys)
}

/// Ensures that there is a key, and logs how to create an admin key if there is none.
fn announce_key(config: &Config, keys: StaticKeys, running: &Running, common: &Common) -> Result<()> {
    let (store, address) = (&running.app.store, running.address());
    let (has_key, has_admin_key) = (keys.has_key(), keys.has_admin_key());
    store.use_static_keys(keys)?;
    if config.auth.required && !has_key {
        let base_url = config.server.public_url.as_deref().unwrap_or(&address);
        let link_of = |key: &str| running.service.sign_in_link(base_url, key);
        first_start::announce(store, config, &address, common, link_of)?;
    }
    let has_admin_key =
        has_admin_key || store.list_keys()?.iter().any(|key| key.rights.admin && key.revoked_at_ms.is_none());
    if config.auth.required && !has_admin_key {
        tracing::info!(
            address,
            command = common.command("keys create --admin"),
            "the dashboard requires an admin key; the command creates one while the service runs"
        );
    }
    Ok(())
}

#[cfg(unix)]
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(crate) fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static> {
    Ok(async {
        // If signals are not supported, the service runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
