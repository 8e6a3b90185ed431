//! Shared helpers of the tests: a running server, raw connections, and clients of a test web.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use http::{Request, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use url::Url;
use websvc_testkit::TestWeb;
use websvc_transport::{
    AddressGuard, Body, BodyError, BodyTimeout, Client, ClientConfig, FetchRequest, Server, ServerBody,
    ServerConfig, ShutdownReport,
};

/// A running server under test.
pub(crate) struct Running {
    pub(crate) addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<ShutdownReport>,
}

impl Running {
    pub(crate) fn url(&self, path: &str) -> Url {
        url(&format!("http://{}{path}", self.addr))
    }

    /// Shuts the server down and returns its outcome.
    pub(crate) fn stop(self) -> JoinHandle<ShutdownReport> {
        self.stop.send(()).unwrap();
        self.task
    }
}

pub(crate) async fn serve<H, F>(config: ServerConfig, handler: H) -> Running
where
    H: Fn(Request<ServerBody>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let server = Server::bind(config).await.unwrap();
    let addr = server.local_addr();
    let (stop, shutdown) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let shutdown = async {
            let _ = shutdown.await;
        };
        server.run(handler, shutdown).await.unwrap()
    });
    Running { addr, stop, task }
}

pub(crate) fn loopback() -> ServerConfig {
    ServerConfig::new("127.0.0.1:0")
}

pub(crate) async fn hello(_request: Request<ServerBody>) -> Response<Body> {
    Response::new(Body::from("hello"))
}

/// Responds with the request body, or with the status that an API would choose.
pub(crate) async fn echo(request: Request<ServerBody>) -> Response<Body> {
    let timeout = BodyTimeout { idle: Duration::from_millis(200), total: Duration::from_secs(5) };
    match request.into_body().read(1024 * 1024, timeout).await {
        Ok(body) => Response::new(Body::from(body)),
        Err(BodyError::TooLarge { .. }) => status(413),
        Err(BodyError::TimedOut) => status(408),
        Err(BodyError::Broken(_)) => status(400),
    }
}

pub(crate) fn status(code: u16) -> Response<Body> {
    Response::builder().status(code).body(Body::from(format!("status {code}"))).unwrap()
}

/// Sends a request, then reads until the server closes the connection.
pub(crate) async fn converse(addr: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    String::from_utf8_lossy(&response).into_owned()
}

/// Reads until `end` has arrived.
pub(crate) async fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let mut response = Vec::new();
    while !String::from_utf8_lossy(&response).contains(end) {
        assert!(stream.read_buf(&mut response).await.unwrap() > 0, "closed after {response:?}");
    }
    String::from_utf8_lossy(&response).into_owned()
}

pub(crate) fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

pub(crate) fn get(text: &str) -> FetchRequest {
    FetchRequest { timeout: Duration::from_secs(5), ..FetchRequest::get(url(text)) }
}

pub(crate) fn client_of(world: &TestWeb) -> Client {
    Client::new(ClientConfig { ca_file: Some(world.ca_file()), ..ClientConfig::new(world.guard()) }).unwrap()
}

pub(crate) fn open_client() -> Client {
    Client::new(ClientConfig::new(AddressGuard::open())).unwrap()
}
