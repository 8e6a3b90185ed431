//! A website on loopback with one page, whose prices change once.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use websvc_transport::{Body, Server, ServerBody, ServerConfig};

/// Path of the page.
const PATH: &str = "/prices";

/// The teas before the change.
const OLD_TEAS: [&str; 3] = ["Sencha: 12.00 euros", "Assam: 9.50 euros", "Earl Grey: 8.00 euros"];

/// The teas after the change: one is cheaper, and one is new.
const NEW_TEAS: [&str; 4] =
    ["Sencha: 10.50 euros", "Assam: 9.50 euros", "Earl Grey: 8.00 euros", "Genmaicha: 11.00 euros"];

/// The website, bound to a free port of the loopback address.
#[derive(Debug)]
pub(super) struct PriceList {
    server: Server,
    prices: Prices,
}

/// The prices of the page. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Prices {
    is_changed: Arc<AtomicBool>,
}

impl PriceList {
    /// Binds the website to a free port.
    pub(super) async fn bind() -> Result<Self> {
        let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await?;
        Ok(Self { server, prices: Prices::default() })
    }

    /// Returns the URL of the page.
    pub(super) fn url(&self) -> String {
        format!("http://{}{PATH}", self.server.local_addr())
    }

    /// Returns the prices, which can change while the website is served.
    pub(super) fn prices(&self) -> Prices {
        self.prices.clone()
    }

    /// Serves requests until `stop` completes.
    pub(super) async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let Self { server, prices } = self;
        let handler = move |request: Request<ServerBody>| {
            let response = prices.respond(request.uri().path());
            async move { response }
        };
        server.run(handler, stop).await?;
        Ok(())
    }
}

impl Prices {
    /// Changes the prices.
    pub(super) fn change(&self) {
        self.is_changed.store(true, Ordering::Relaxed);
    }

    fn respond(&self, path: &str) -> Response<Body> {
        let mut response = Response::new(Body::from(self.html()));
        if path != PATH {
            *response.status_mut() = StatusCode::NOT_FOUND;
        }
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        response
    }

    fn html(&self) -> String {
        let teas = if self.is_changed.load(Ordering::Relaxed) { NEW_TEAS.as_slice() } else { &OLD_TEAS };
        let teas: String = teas.iter().map(|tea| format!("<li>{tea}</li>")).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Teas and prices</title></head><body><main>\
             <h1>Teas and prices</h1><p>Prices for 100 grams, with taxes.</p><ul>{teas}</ul>\
             <p>We deliver within two days.</p></main></body></html>"
        )
    }
}
