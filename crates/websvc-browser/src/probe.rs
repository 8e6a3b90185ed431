//! The check of a remote browser before its first page: its pages must reach the network through the proxy and in no other
//! way.
//!
//! A local Chromium is started with flags that close all other ways. The flags of a remote one cannot be read (Chromium
//! returns its command line only if it was started with `--enable-automation`), so its behavior is tested.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::config::Remote;
use crate::connection::{Cdp, CdpError};
use crate::egress::{Destinations, Egress, EgressLimits, ProxyListener};
use crate::error::RemoteError;
use crate::targets::TargetRegistry;

/// A host name that no page requests and that does not exist (RFC 2606).
const PROBE_HOST: &str = "websvc-probe.invalid";
/// The timeout for a connection from the browser to its proxy.
const PROXY_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns whether a page can send UDP datagrams: `direct` if WebRTC finds a local UDP candidate, `none` if it finds none.
const UDP_PROBE: &str = "(async () => {
    if (typeof RTCPeerConnection === 'undefined') return 'none';
    const connection = new RTCPeerConnection();
    const found = new Promise((resolve) => {
        connection.onicecandidate = ({candidate}) => {
            if (candidate === null) resolve('none');
            else if (/ udp /i.test(candidate.candidate)) resolve('direct');
        };
    });
    connection.createDataChannel('');
    await connection.setLocalDescription(await connection.createOffer());
    const outcome = await found;
    connection.close();
    return outcome;
})()";

/// Opens a page with a proxy that allows no destination, and checks that it uses this proxy only.
pub(crate) async fn check(
    cdp: &Cdp,
    targets: &TargetRegistry,
    remote: &Remote,
    proxy_listener: &ProxyListener,
    limit: Duration,
) -> Result<(), RemoteError> {
    let endpoint = remote.endpoint.to_string();
    let incompatible = |reason: String| RemoteError::Incompatible { endpoint: endpoint.clone(), reason };
    let limits = EgressLimits { connect_timeout: limit, connections: 16, traffic_bytes: 0 };
    let egress = Egress::start(Destinations::Nothing, limits, proxy_listener.clone());
    let egress = egress
        .await
        .map_err(|error| incompatible(format!("cannot listen on browser.egress_listen: {error}")))?;
    let context = json!({
        "disposeOnDetach": true,
        "proxyServer": egress.proxy_url(),
        "proxyBypassList": "<-loopback>",
    });
    let failed = |error: CdpError| incompatible(error.to_string());
    let context = cdp.call("", "Target.createBrowserContext", context).await.map_err(failed)?;
    let context = context["browserContextId"].as_str().unwrap_or_default();
    targets.register_context(context);
    let outcome = timeout(limit, run(cdp, targets, context, &egress)).await;
    targets.unregister_context(context);
    cdp.send_no_reply("", "Target.disposeBrowserContext", json!({"browserContextId": context}));
    let result = outcome.map_err(|_| incompatible("a page does not respond".to_owned()))?.map_err(failed)?;
    match result {
        ProbeResult::ProxyOnly => Ok(()),
        ProbeResult::ProxyUnreachable => {
            let rejected = egress
                .last_rejected_peer()
                .map(|address| format!(" (a connection from {address} was rejected)"));
            let (proxy, rejected) = (egress.proxy_url().to_owned(), rejected.unwrap_or_default());
            Err(RemoteError::ProxyUnreachable { endpoint, proxy, rejected })
        }
        ProbeResult::DirectUdp => Err(RemoteError::WebRtcBypass { endpoint }),
        ProbeResult::Unknown => {
            Err(incompatible("the check whether WebRTC bypasses the proxy failed".to_owned()))
        }
    }
}

/// The result of the check.
enum ProbeResult {
    /// Pages use the proxy and nothing else.
    ProxyOnly,
    ProxyUnreachable,
    /// Pages can send UDP datagrams.
    DirectUdp,
    /// The use of UDP could not be determined.
    Unknown,
}

async fn run(
    cdp: &Cdp,
    targets: &TargetRegistry,
    context: &str,
    egress: &Egress,
) -> Result<ProbeResult, CdpError> {
    let blank = json!({"url": "about:blank", "browserContextId": context});
    let target = cdp.call("", "Target.createTarget", blank).await?;
    let target = target["targetId"].as_str().unwrap_or_default();
    let Some(session) = targets.session(context, target) else { return Ok(ProbeResult::Unknown) };
    let session = session.as_str();
    let params = json!({"expression": UDP_PROBE, "awaitPromise": true, "returnByValue": true});
    let udp = cdp.call(session, "Runtime.evaluate", params).await?;
    match udp["result"]["value"].as_str() {
        Some("none") => {}
        Some("direct") => return Ok(ProbeResult::DirectUdp),
        _ => return Ok(ProbeResult::Unknown),
    }
    // The navigation fails in any case. It matters whether the proxy has seen the connection.
    let navigation = cdp.call(session, "Page.navigate", json!({"url": format!("http://{PROBE_HOST}/")}));
    if let Ok(navigated) = timeout(PROXY_TIMEOUT, navigation).await {
        navigated?;
    }
    let is_proxy_used = egress.failure(PROBE_HOST, 80).is_some();
    Ok(if is_proxy_used { ProbeResult::ProxyOnly } else { ProbeResult::ProxyUnreachable })
}
