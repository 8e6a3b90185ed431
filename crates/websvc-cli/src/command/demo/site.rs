//! A website on loopback, which runs until its handle is dropped.

use std::sync::Arc;

use anyhow::Result;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use websvc_transport::{Body, BoxFuture, Server, ServerBody, ServerConfig};

/// Some work in the background.
pub(super) struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<()>>,
}

impl Running {
    /// Starts work that ends when the future that it gets is ready.
    pub(super) fn start<F>(work: impl FnOnce(BoxFuture<'static, ()>) -> F) -> Self
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        // The sender is only dropped, so the error is the signal.
        let stopped = Box::pin(async move { drop(stopped.await) });
        Self { stop, task: tokio::spawn(work(stopped)) }
    }

    /// Stops the work and waits for its end.
    pub(super) async fn stop(self) -> Result<()> {
        drop(self.stop);
        self.task.await?
    }
}

/// Serves pages of HTML at a free port of the loopback address. Returns the URL of the website.
pub(super) async fn serve(
    respond: impl Fn(&str) -> (StatusCode, String) + Send + Sync + 'static,
) -> Result<(String, Running)> {
    let server = Server::bind(ServerConfig::new("127.0.0.1:0")).await?;
    let url = format!("http://{}", server.local_addr());
    let respond = Arc::new(respond);
    let handler = move |request: Request<ServerBody>| {
        let (status, html) = respond(request.uri().path());
        let mut response = Response::new(Body::from(html));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        std::future::ready(response)
    };
    let running = Running::start(async move |stop| {
        server.run(handler, stop).await?;
        Ok(())
    });
    Ok((url, running))
}
