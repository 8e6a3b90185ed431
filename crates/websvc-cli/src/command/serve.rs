//! `websvc serve`: the service until it is told to stop.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::sync::oneshot;
use url::Url;
use websvc_browser::Browser;
use websvc_server::audit::Audit;
use websvc_server::{AdmissionLimits, Authentication, Jobs, PublicUrlConfig, Service, ServiceConfig};
use websvc_stage::TraceCounters;
use websvc_store::Store;
use websvc_transport::{BoxFuture, Server, ServerConfig, TlsFiles};

use crate::allocator;
use crate::app::{self, App, IndexMode};
use crate::args::{Common, KEY_VARIABLE, Serve, check_listen, variable};
use crate::config::{self, Config};
use crate::data_dir::DataDir;
use crate::output;
use crate::{CommandContext, TraceExport};

/// How long the end waits for the last audit events; what is left is delivered at the next start.
const LAST_EVENTS_LIMIT: Duration = Duration::from_secs(10);

/// The connections to the address for metrics: a few collectors.
const METRICS_CONNECTIONS: usize = 64;

/// The variable that holds a key which administers, beside the stored ones.
const ADMIN_VARIABLE: &str = "WEBSVC_ADMIN_KEY";

/// Runs `websvc serve`.
pub(crate) async fn serve(
    setting: CommandContext,
    arguments: Serve,
    tracing: Option<TraceExport>,
) -> Result<()> {
    let CommandContext { mut config, data_dir, common } = setting;
    if let Some(listen) = arguments.listen {
        config.server.listen = listen;
    }
    let exporting = match tracing {
        Some(TraceExport { settings, exporter }) => Some((settings.destination(&config)?, exporter)),
        None => None,
    };
    let counters = exporting.as_ref().map(|(_, exporter)| exporter.counters());
    let running = start(&config, &data_dir, counters).await?;
    require_auth_off_loopback(&config, running.server.local_addr(), arguments.insecure)?;
    announce_key(&config, running.store(), &running.address(), &common)?;
    running.evict_stale_pages(&config).await?;
    // Before the line: whoever reads it may send a signal at once.
    let stop = stop_signal()?;
    output::line(&format!("websvc listening on {}", running.address()))?;
    let Some((destination, exporter)) = exporting else { return running.run(Box::pin(stop)).await };
    // What is in work at the end has spans, too: they are sent when all is done.
    let (done, ended) = oneshot::channel();
    let ended = async move { ended.await.unwrap_or_default() };
    let serving = async move {
        let served = running.run(Box::pin(stop)).await;
        // The exporter is there for as long as this is.
        let _ = done.send(());
        served
    };
    let (served, ()) = tokio::join!(serving, exporter.run(destination, ended));
    served
}

/// A service that is bound to its address.
#[derive(Debug)]
pub(crate) struct Running {
    server: Server,
    /// Separate listener for `/metrics`, if `server.metrics_listen` is set.
    metrics: Option<Server>,
    service: Service,
    app: App,
    audit: Option<Audit>,
}

/// Opens the installation and binds the address; nothing is served before [`Running::run`].
pub(crate) async fn start(
    config: &Config,
    data_dir: &DataDir,
    traces: Option<TraceCounters>,
) -> Result<Running> {
    check_listen(&config.server.listen)?;
    let app = app::open(config, data_dir, IndexMode::Write(data_dir.lock()?))?;
    // One that was killed has left its browser's directory, be there a browser now or not.
    tokio::spawn(Browser::remove_abandoned_directories());
    tokio::spawn(allocator::trim_when_quiet());
    // A browser is started when a page needs it; what is known before is said now.
    for warning in app
        .engine
        .scraper()
        .configured_browser()
        .map(|browser| browser.health().warnings)
        .into_iter()
        .flatten()
    {
        tracing::warn!("{warning}");
    }
    let audit = app::audit(config, data_dir)?;
    if audit.is_none() {
        warn_unused_audit_sinks(&app.store)?;
    }
    let authentication = if config.auth.required { Authentication::Required } else { Authentication::Open };
    let jobs = Jobs::new(&app.engine, app.store.clone(), app.artifacts.clone(), app::jobs_config(config));
    let server = Server::bind(server_config(config)).await?;
    let metrics = match &config.server.metrics_listen {
        Some(listen) => Some(Server::bind(metrics_config(config, listen)).await?),
        None => None,
    };
    let service = Service::new(ServiceConfig {
        jobs,
        engine: app.engine.clone(),
        store: app.store.clone(),
        artifacts: app.artifacts.clone(),
        uploads: data_dir.uploads(),
        origin: origin(config)?,
        authentication,
        open_metrics: server.local_addr().ip().is_loopback(),
        limits: limits(config),
        traces,
        audit: audit.clone(),
    });
    Ok(Running { server, metrics, service, app, audit })
}

impl Running {
    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    /// Removes the cached pages that became too old while nothing ran; later ones go when others come.
    async fn evict_stale_pages(&self, config: &Config) -> Result<()> {
        let (store, limits) = (self.store().clone(), app::cache_limits(config));
        let now_ms = u64::try_from(jiff::Timestamp::now().as_millisecond())?;
        tokio::task::spawn_blocking(move || store.evict_pages(&limits, now_ms)).await??;
        Ok(())
    }

    fn store(&self) -> &Store {
        &self.app.store
    }

    /// Returns the address as a URL.
    pub(crate) fn address(&self) -> String {
        format!("{}://{}", self.server.scheme(), self.server.local_addr())
    }

    /// Serves until `stop` is ready, finishes what is in work and closes the index.
    pub(crate) async fn run(self, stop: BoxFuture<'static, ()>) -> Result<()> {
        let Self { server, metrics, service, app, audit } = self;
        let (told, counted) = (service.clone(), service.clone());
        let stop = async move {
            stop.await;
            told.stop();
            tracing::info!("stopping");
        };
        let jobs = service.jobs().clone();
        let handler = move |request| {
            let service = service.clone();
            async move { service.handle(request).await }
        };
        // The last request ends before the delivery of events does.
        let (served, is_over) = oneshot::channel::<()>();
        let serving = async {
            let drained = tokio::select! {
                drained = server.run(handler, stop) => drained,
                never = app.artifacts.sweep_periodically() => match never {},
                never = jobs.run() => match never {},
                never = app.engine.sweep_deleted_teams() => match never {},
                never = serve_metrics(metrics, counted) => match never {},
            };
            drop(served);
            drained
        };
        let delivering = async {
            if let Some(audit) = audit {
                let is_over = async { drop(is_over.await) };
                audit.deliver(is_over, LAST_EVENTS_LIMIT).await;
            }
        };
        let (drained, ()) = tokio::join!(serving, delivering);
        let drained = drained?;
        tracing::info!(?drained, "stopped");
        app.close().await?;
        Ok(())
    }
}

/// Answers at the address for metrics, if there is one, for as long as this is polled.
async fn serve_metrics(metrics: Option<Server>, service: Service) -> Infallible {
    if let Some(server) = metrics {
        tracing::info!(address = %server.local_addr(), "metrics are answered here without a key");
        let handler = move |request| {
            let service = service.clone();
            async move { service.handle_metrics(request).await }
        };
        if let Err(error) = server.run(handler, std::future::pending()).await {
            tracing::error!(%error, "metrics are not answered any more");
        }
    }
    std::future::pending().await
}

/// Says which teams want audit events that go nowhere.
fn warn_unused_audit_sinks(store: &Store) -> Result<()> {
    for team in store.list_teams()?.into_iter().filter(|team| team.audit) {
        tracing::warn!(team = team.name, "the team wants audit events, and [audit] names no place for them");
    }
    Ok(())
}

fn server_config(config: &Config) -> ServerConfig {
    let mut server = ServerConfig::new(&config.server.listen).with_error_reply(Service::error_reply);
    server.tls =
        config.server.tls.as_ref().map(|tls| TlsFiles { cert: tls.cert.clone(), key: tls.key.clone() });
    server.max_connections = config.server.max_connections;
    server.drain_timeout = Duration::from_millis(config.server.drain_timeout_ms);
    server
}

/// Metrics are plain HTTP: whoever gives them an address of their own keeps it within their network.
fn metrics_config(config: &Config, listen: &str) -> ServerConfig {
    let mut server = ServerConfig::new(listen).with_error_reply(Service::error_reply);
    server.max_connections = METRICS_CONNECTIONS;
    server.drain_timeout = Duration::from_millis(config.server.drain_timeout_ms);
    server
}

fn limits(config: &Config) -> AdmissionLimits {
    let config::Limits {
        requests_per_minute,
        concurrency,
        total_concurrency,
        queue,
        queue_wait_ms,
        processors,
        overload_wait_ms,
        overload_after_ms,
    } = config.limits;
    AdmissionLimits {
        requests_per_minute,
        concurrency,
        total_concurrency: total_concurrency.get(),
        queue,
        queue_wait: Duration::from_millis(queue_wait_ms),
        processors: processors.map_or_else(|| AdmissionLimits::default().processors, NonZeroUsize::get),
        overload_wait: Duration::from_millis(overload_wait_ms),
        overload_after: Duration::from_millis(overload_after_ms),
    }
}

/// Returns where callers reach the service.
pub(super) fn origin(config: &Config) -> Result<PublicUrlConfig> {
    let config::Server { public_url, trusted_proxies, tls, .. } = &config.server;
    let public_url = match public_url {
        Some(url) => Some(url.parse::<Url>().context("server.public_url")?),
        None => None,
    };
    if let Some(url) = &public_url {
        ensure!(
            matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none(),
            "server.public_url: {url} is not an http or https URL without query"
        );
    }
    let networks = trusted_proxies.iter().map(|network| network.parse().context("server.trusted_proxies"));
    Ok(PublicUrlConfig {
        public_url,
        scheme: if tls.is_some() { "https" } else { "http" },
        trusted_proxies: networks.collect::<Result<_>>()?,
    })
}

/// Refuses to serve everybody without a key on an address that others can reach.
fn require_auth_off_loopback(config: &Config, address: SocketAddr, insecure: bool) -> Result<()> {
    if !config.auth.required && !address.ip().is_loopback() && !insecure {
        bail!(
            "auth.required is false and {address} is not a loopback address: anybody who reaches it could use \
             this service; give --insecure to allow that"
        );
    }
    Ok(())
}

/// Makes sure that there are keys, and says what the dashboard asks for.
fn announce_key(config: &Config, store: &Store, address: &str, common: &Common) -> Result<()> {
    announce_first_key(config, store, common)?;
    let administers = match variable(ADMIN_VARIABLE) {
        Some(key) => {
            store.static_admin_key(&key).context(ADMIN_VARIABLE)?;
            true
        }
        None => store.list_keys()?.iter().any(|key| key.rights.admin && key.revoked_at_ms.is_none()),
    };
    if config.auth.required && !administers {
        tracing::info!(
            address,
            command = common.command("keys create --admin"),
            "the dashboard waits for an admin key: the command makes one while the service runs"
        );
    }
    Ok(())
}

/// Makes sure that there is a key: the one of the environment, else one that is made at the first start.
fn announce_first_key(config: &Config, store: &Store, common: &Common) -> Result<()> {
    // Empty is not absent here: a secret that was lost on the way must not start a service with other keys.
    if let Ok(key) = std::env::var(KEY_VARIABLE) {
        return store.static_key(&key).context(KEY_VARIABLE);
    }
    if !config.auth.required {
        return Ok(());
    }
    if let Some(key) = store.ensure_default_key()? {
        output::note(&format!(
            "API key of team default, shown this once: {}\n  (`{}` makes more, `{}` lists them)",
            key.secret.expose(),
            common.command("keys create"),
            common.command("keys list")
        ));
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
        // Without a signal the service runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
