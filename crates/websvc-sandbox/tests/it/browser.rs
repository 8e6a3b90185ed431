//! A Chromium for the tests, and channels to its pages.

use std::path::PathBuf;
use std::process::Stdio;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use websvc_sandbox::{BoxFuture, CdpChannel, ChannelClosed, PageTarget};

/// The path of Chromium, if the tests have one.
pub(crate) fn chromium() -> Option<PathBuf> {
    std::env::var_os("WEBSVC_TEST_CHROMIUM").map(PathBuf::from)
}

/// A running Chromium. It is killed on drop.
pub(crate) struct Browser {
    endpoint: String,
    _process: Child,
    _profile: TempDir,
}

impl Browser {
    pub(crate) async fn start(path: PathBuf) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = Command::new(path);
        command.args([
            "--headless",
            "--no-sandbox",
            "--remote-debugging-port=0",
            "--disable-gpu",
            "--mute-audio",
        ]);
        command.args([
            "--window-size=1280,720",
            "--hide-scrollbars",
            "--no-first-run",
            "--disable-dev-shm-usage",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let endpoint = loop {
            let line = lines.next_line().await.unwrap().expect("Chromium prints its endpoint");
            if let Some(endpoint) = line.strip_prefix("DevTools listening on ") {
                break endpoint.to_owned();
            }
        };
        // Chromium blocks when nothing reads its messages.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { endpoint, _process: process, _profile: profile }
    }

    /// Opens a page in a context of its own. The context ends with the returned value.
    pub(crate) async fn open_page(&self) -> Page {
        let mut owner = Socket::connect(&self.endpoint).await;
        let context = owner.call("Target.createBrowserContext", json!({ "disposeOnDetach": true })).await;
        let context = context["browserContextId"].clone();
        let target = owner
            .call("Target.createTarget", json!({ "url": "about:blank", "browserContextId": context }))
            .await;
        let mut socket = Socket::connect(&self.endpoint).await;
        let target_id = target["targetId"].as_str().unwrap().to_owned();
        let attached =
            socket.call("Target.attachToTarget", json!({ "targetId": target_id, "flatten": true })).await;
        let session_id = attached["sessionId"].as_str().unwrap().to_owned();
        let downloads = json!({ "behavior": "deny", "browserContextId": context, "eventsEnabled": true });
        socket.call("Browser.setDownloadBehavior", downloads).await;
        Page { target: PageTarget { target_id, session_id }, socket: Some(socket), _owner: owner }
    }
}

/// A page and the connection that is attached to it.
pub(crate) struct Page {
    pub(crate) target: PageTarget,
    socket: Option<Socket>,
    _owner: Socket,
}

impl Browser {
    /// Attaches to the first page, in the only context that a connection without a filter has.
    pub(crate) async fn first_page(&self) -> Page {
        let owner = Socket::connect(&self.endpoint).await;
        let mut socket = Socket::connect(&self.endpoint).await;
        let targets = socket.call("Target.getTargets", json!({})).await;
        let mut targets = targets["targetInfos"].as_array().unwrap().iter();
        let page = targets.find(|target| target["type"] == "page").unwrap();
        let target_id = page["targetId"].as_str().unwrap().to_owned();
        let mut page = Page {
            target: PageTarget { target_id, session_id: String::new() },
            socket: Some(socket),
            _owner: owner,
        };
        page.attach().await;
        page
    }
}

impl Browser {
    /// Connects to a page again, without the commands of earlier programs that are not yet answered.
    pub(crate) async fn reconnect(&self, page: &mut Page) {
        page.socket = Some(Socket::connect(&self.endpoint).await);
        page.attach().await;
    }
}

impl Page {
    /// Attaches again, as a session does for each program.
    async fn attach(&mut self) {
        let params = json!({ "targetId": self.target.target_id, "flatten": true });
        let attached = self.socket.as_mut().unwrap().call("Target.attachToTarget", params).await;
        self.target.session_id = attached["sessionId"].as_str().unwrap().to_owned();
    }

    /// Runs a program of an interpreter on the page, and makes the page that it chose the current one.
    pub(crate) async fn interpret(
        &mut self,
        interpreter: &websvc_sandbox::Interpreter,
        program: websvc_sandbox::Program,
    ) -> websvc_sandbox::Outcome {
        let (back, returned) = std::sync::mpsc::channel();
        let channel = BorrowedSocket { socket: self.socket.take(), back };
        let outcome = interpreter.run(program, self.target.clone(), Box::new(channel)).await;
        self.socket = returned.recv().ok();
        if let Some(page) = &outcome.page {
            self.target.target_id = page.clone();
        }
        self.attach().await;
        outcome
    }

    /// Runs a program on the page. The connection serves the next one too.
    pub(crate) async fn run(&mut self, program: websvc_sandbox::Program) -> websvc_sandbox::Outcome {
        let (back, returned) = std::sync::mpsc::channel();
        let channel = BorrowedSocket { socket: self.socket.take(), back };
        let outcome =
            websvc_sandbox::run(program, self.target.clone(), Box::new(channel), &crate::channels::worker())
                .await;
        self.socket = returned.recv().ok();
        outcome
    }
}

/// A connection that returns to its owner on drop.
struct BorrowedSocket {
    socket: Option<Socket>,
    back: std::sync::mpsc::Sender<Socket>,
}

impl Drop for BorrowedSocket {
    fn drop(&mut self) {
        if let Some(socket) = self.socket.take() {
            self.back.send(socket).unwrap();
        }
    }
}

impl CdpChannel for BorrowedSocket {
    fn send(&mut self, message: String) -> BoxFuture<'_, Result<(), ChannelClosed>> {
        let socket = self.socket.as_mut().unwrap();
        Box::pin(async move { socket.stream.send(Message::text(message)).await.map_err(|_| ChannelClosed) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<String>> {
        Box::pin(self.socket.as_mut().unwrap().next())
    }
}

struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    last_id: u64,
}

impl Socket {
    async fn connect(endpoint: &str) -> Self {
        let (stream, _) = connect_async(endpoint).await.unwrap();
        // Far from those of the worker.
        Self { stream, last_id: 1_000_000_000 }
    }

    async fn next(&mut self) -> Option<String> {
        loop {
            match self.stream.next().await?.ok()? {
                Message::Text(text) => return Some(text.to_string()),
                Message::Close(_) => return None,
                Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let request = json!({ "id": self.last_id, "method": method, "params": params });
        self.stream.send(Message::text(request.to_string())).await.unwrap();
        loop {
            let text = self.next().await.expect("the browser answers");
            let response: Value = serde_json::from_str(&text).unwrap();
            if response["id"] == json!(self.last_id) {
                assert!(response["error"].is_null(), "{method}: {response}");
                return response["result"].clone();
            }
        }
    }
}
