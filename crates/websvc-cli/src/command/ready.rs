//! `websvc ready`: checks whether a server is ready, for health checks of containers, which have no other HTTP client.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use url::Url;
use websvc_transport::{AddressGuard, Client, ClientConfig, FetchRequest};

use crate::output;

/// Time after which a server that does not respond is not ready.
const TIMEOUT: Duration = Duration::from_secs(4);

/// Prints the state of a server, and fails if it is not ready.
pub(crate) async fn run(server: &Url) -> Result<()> {
    // The operator has chosen the host, so it may be on any network.
    let client = Client::new(ClientConfig::new(AddressGuard::open()))?;
    let url = server.join("/ready").context("--server")?;
    let request = FetchRequest { timeout: TIMEOUT, connect_timeout: TIMEOUT, ..FetchRequest::get(url) };
    let response = client.fetch(request).await.with_context(|| format!("{server} does not respond"))?;
    let state = String::from_utf8_lossy(&response.body);
    if !response.status.is_success() {
        bail!("{server} is not ready: status {}, {}", response.status.as_u16(), state.trim());
    }
    output::line(state.trim())
}
