//! What is seen to before a remote browser gets its first page: that pages come out by the proxy, and by nothing else.
//!
//! A Chromium of our own is started with the flags that close other ways. Those of a remote one cannot be read (it tells
//! them only to those who drive it openly), so it is tried out.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::config::Remote;
use crate::connection::{Cdp, CdpError};
use crate::egress::{Bounds, Destinations, Egress, ProxyListener};
use crate::error::RemoteError;
use crate::targets::TargetRegistry;

/// A host that no page asks for, and that is nowhere (RFC 2606).
const NOBODY: &str = "websvc-probe.invalid";
/// How long a connection from the browser is waited for.
const WAY_BACK: Duration = Duration::from_secs(5);

/// Tells whether a page could send datagrams by itself: `direct` when it finds a place to send them from, `none` when
/// it is done and has found none.
const UDP: &str = "(async () => {
    if (typeof RTCPeerConnection === 'undefined') return 'none';
    const connection = new RTCPeerConnection();
    const found = new Promise((tell) => {
        connection.onicecandidate = ({candidate}) => {
            if (candidate === null) tell('none');
            else if (/ udp /i.test(candidate.candidate)) tell('direct');
        };
    });
    connection.createDataChannel('');
    await connection.setLocalDescription(await connection.createOffer());
    const outcome = await found;
    connection.close();
    return outcome;
})()";

/// Opens a page that goes nowhere, and looks at how it tries.
pub(crate) async fn check(
    cdp: &Cdp,
    arrivals: &TargetRegistry,
    remote: &Remote,
    entrance: &ProxyListener,
    limit: Duration,
) -> Result<(), RemoteError> {
    let endpoint = remote.endpoint.to_string();
    let unfit = |reason: String| RemoteError::Unfit { endpoint: endpoint.clone(), reason };
    let bounds = Bounds { connect_timeout: limit, connections: 16, traffic_bytes: 0 };
    let egress = Egress::start(Destinations::Nothing, bounds, entrance.clone());
    let egress = egress
        .await
        .map_err(|error| unfit(format!("browser.egress_listen cannot be listened on: {error}")))?;
    let context = json!({
        "disposeOnDetach": true,
        "proxyServer": egress.proxy_url(),
        "proxyBypassList": "<-loopback>",
    });
    let refused = |error: CdpError| unfit(error.to_string());
    let context = cdp.call("", "Target.createBrowserContext", context).await.map_err(refused)?;
    let context = context["browserContextId"].as_str().unwrap_or_default();
    arrivals.register_context(context);
    let outcome = timeout(limit, look(cdp, arrivals, context, &egress)).await;
    arrivals.forget(context);
    cdp.send_no_reply("", "Target.disposeBrowserContext", json!({"browserContextId": context}));
    let seen = outcome.map_err(|_| unfit("a page does not answer".to_owned()))?.map_err(refused)?;
    match seen {
        ProbeResult::OnlyWay => Ok(()),
        ProbeResult::NoWayBack => {
            let stranger = egress
                .last_rejected_peer()
                .map(|address| format!(" (a connection from {address} was turned away)"));
            let (proxy, stranger) = (egress.proxy_url().to_owned(), stranger.unwrap_or_default());
            Err(RemoteError::NoWayBack { endpoint, proxy, stranger })
        }
        ProbeResult::Datagrams => Err(RemoteError::Leaks { endpoint }),
        ProbeResult::Nothing => {
            Err(unfit("it cannot be seen whether WebRTC leads past the proxy".to_owned()))
        }
    }
}

enum ProbeResult {
    OnlyWay,
    NoWayBack,
    Datagrams,
    /// Whether there are datagrams could not be seen.
    Nothing,
}

async fn look(
    cdp: &Cdp,
    arrivals: &TargetRegistry,
    context: &str,
    egress: &Egress,
) -> Result<ProbeResult, CdpError> {
    let blank = json!({"url": "about:blank", "browserContextId": context});
    let target = cdp.call("", "Target.createTarget", blank).await?;
    let target = target["targetId"].as_str().unwrap_or_default();
    let Some(session) = arrivals.session(context, target) else { return Ok(ProbeResult::Nothing) };
    let session = session.as_str();
    let asked = json!({"expression": UDP, "awaitPromise": true, "returnByValue": true});
    let udp = cdp.call(session, "Runtime.evaluate", asked).await?;
    match udp["result"]["value"].as_str() {
        Some("none") => {}
        Some("direct") => return Ok(ProbeResult::Datagrams),
        _ => return Ok(ProbeResult::Nothing),
    }
    // The answer is that the page could not be opened: what counts is whom it asked before.
    let going = cdp.call(session, "Page.navigate", json!({"url": format!("http://{NOBODY}/")}));
    if let Ok(gone) = timeout(WAY_BACK, going).await {
        gone?;
    }
    Ok(if egress.failure(NOBODY, 80).is_some() { ProbeResult::OnlyWay } else { ProbeResult::NoWayBack })
}
