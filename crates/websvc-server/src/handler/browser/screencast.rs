//! The WebSocket of the live view: pictures of a tab, the list of the tabs, and mouse and keyboard of the viewer.
//!
//! The next picture is requested when the viewer has shown the last one, at most 15 times per second for all viewers of a
//! session. Without viewers, no pictures are taken. A viewer that only watches changes nothing in the browser: the tab that
//! it chooses is shown to itself.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Request;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use uuid::Uuid;
use websvc_session::{ClientConnection, PageTarget, ViewMode};
use websvc_transport::{Body, ServerBody};

use super::input::input;
use super::tabs::{TabChange, Tabs};
use crate::handler::watch::Handshake;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The minimum time between two lists of the tabs. A page can change its title at any rate.
const LIST_INTERVAL: Duration = Duration::from_millis(250);
/// The interval between two looks at the titles of the tabs, whose changes Chromium does not report.
const TITLE_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum size of a message of a viewer.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// The time without a message of the viewer after which it counts as gone. Its page sends one every ten seconds.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval of pings, which show a proxy and the replica that passes them on that the page only does not change.
const PING_INTERVAL: Duration = Duration::from_secs(25);

/// The state of one viewer.
struct Viewer {
    connection: ClientConnection,
    mode: ViewMode,
    tabs: Tabs,
    /// The tab whose pictures the viewer gets; `None` while another one is attached.
    shown: Option<PageTarget>,
    /// True once the tab in view has had a picture.
    has_picture: bool,
    /// The target that is being attached, and the ID of that command.
    attaching: Option<(u64, String)>,
    last_id: u64,
    /// The command that lists the tabs.
    listing: u64,
    /// The picture that the viewer has not confirmed, by its number in the protocol.
    unconfirmed: Option<Value>,
    /// The next use of the session's rate of pictures.
    next_frame: Option<(Instant, FrameUse)>,
    /// The time of the next list of the tabs, if that has changed, and the time from which one may be sent.
    next_list: Option<Instant>,
    list_from: Instant,
    next_titles: Instant,
    next_ping: Instant,
    heard: Instant,
}

/// The reason why a picture is requested.
enum FrameUse {
    /// The viewer has shown the last one, which has this number.
    Next(Value),
    /// The view changes to another tab.
    Tab,
}

/// An event of the connections of a viewer.
enum ViewEvent {
    Viewer(Option<Result<Message, tokio_tungstenite::tungstenite::Error>>),
    Browser(Option<String>),
    Frame,
    List,
    Titles,
    Ping,
    Silence,
}

/// Connects a viewer to a session.
pub(super) async fn connect(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
    id: Uuid,
    token: &str,
) -> Result<HttpResponse, ApiError> {
    let handshake = Handshake::from_request(request)?;
    let (connection, page, mode) = context.state.browser_sessions.watch(id, token).await?;
    let body = Body::upgrade(move |stream, mut drain| async move {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let mut viewer = Viewer::new(connection, page, mode);
        tokio::select! {
            _ = viewer.show(&mut socket) => {}
            () = drain.wait() => {}
        }
        // The viewer may be gone.
        let _ = socket.close(None).await;
    });
    Ok(handshake.into_response(body))
}

impl Viewer {
    fn new(connection: ClientConnection, page: PageTarget, mode: ViewMode) -> Self {
        let now = Instant::now();
        Self {
            connection,
            mode,
            tabs: Tabs::new(page.target_id.clone()),
            shown: Some(page),
            has_picture: false,
            attaching: None,
            last_id: 0,
            listing: 0,
            unconfirmed: None,
            next_frame: None,
            next_list: None,
            list_from: now,
            next_titles: now + TITLE_INTERVAL,
            next_ping: now + PING_INTERVAL,
            heard: now,
        }
    }

    /// Shows the session until it ends, the viewer leaves, or the last tab is closed; then returns `None`.
    async fn show<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        socket: &mut WebSocketStream<S>,
    ) -> Option<()> {
        self.listing = self.command(None, "Target.setDiscoverTargets", json!({"discover": true}))?;
        sleep_until(self.connection.reserve_frame()).await;
        self.start_pictures()?;
        loop {
            match self.next_event(socket).await {
                ViewEvent::Viewer(Some(Ok(Message::Text(text)))) => self.on_viewer_message(&text)?,
                ViewEvent::Viewer(Some(Ok(Message::Close(_)) | Err(_)) | None)
                | ViewEvent::Browser(None)
                | ViewEvent::Silence => return None,
                ViewEvent::Viewer(Some(Ok(_))) => {}
                ViewEvent::Browser(Some(message)) => self.on_browser_message(&message, socket).await?,
                ViewEvent::Frame => self.use_frame()?,
                ViewEvent::List => {
                    self.next_list = None;
                    self.list_from = Instant::now() + LIST_INTERVAL;
                    send(socket, &self.tabs.to_message()).await?;
                }
                ViewEvent::Ping => {
                    self.next_ping = Instant::now() + PING_INTERVAL;
                    socket.send(Message::Ping(Bytes::new())).await.ok()?;
                }
                ViewEvent::Titles => {
                    self.next_titles = Instant::now() + TITLE_INTERVAL;
                    self.command(None, "Target.getTargets", json!({}))?;
                    if !self.has_picture {
                        // Pictures that start while the tab navigates may never come.
                        self.start_pictures()?;
                    }
                }
            }
        }
    }

    async fn next_event<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        socket: &mut WebSocketStream<S>,
    ) -> ViewEvent {
        let silent_at = self.heard + SILENCE_TIMEOUT;
        let frame_at = self.next_frame.as_ref().map_or(silent_at, |(at, _)| *at);
        let list_at = self.next_list.unwrap_or(silent_at);
        tokio::select! {
            message = socket.next() => ViewEvent::Viewer(message),
            message = self.connection.receive() => ViewEvent::Browser(message),
            () = sleep_until(frame_at), if self.next_frame.is_some() => ViewEvent::Frame,
            () = sleep_until(list_at), if self.next_list.is_some() => ViewEvent::List,
            () = sleep_until(self.next_titles) => ViewEvent::Titles,
            () = sleep_until(self.next_ping) => ViewEvent::Ping,
            () = sleep_until(silent_at) => ViewEvent::Silence,
        }
    }

    /// Starts the pictures of the tab in view.
    fn start_pictures(&mut self) -> Option<()> {
        let Some(session) = self.shown_session() else { return Some(()) };
        let screencast =
            json!({"format": "jpeg", "quality": 60, "maxWidth": 1280, "maxHeight": 1280, "everyNthFrame": 1});
        self.command(Some(&session), "Page.enable", json!({}))?;
        self.command(Some(&session), "Page.startScreencast", screencast)?;
        Some(())
    }

    /// Returns the protocol session of the tab whose pictures the viewer gets.
    fn shown_session(&self) -> Option<String> {
        self.shown.as_ref().map(|page| page.session_id.clone())
    }

    /// Sends a command that does not count as use of the session. Returns its ID; `None` if the session has ended.
    fn command(&mut self, session: Option<&str>, method: &str, params: Value) -> Option<u64> {
        let command = self.message(session, method, params);
        self.connection.send_unnoticed(&command).ok()?;
        Some(self.last_id)
    }

    fn message(&mut self, session: Option<&str>, method: &str, params: Value) -> String {
        self.last_id += 1;
        let mut message = json!({"id": self.last_id, "method": method});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        message["params"] = params;
        message.to_string()
    }

    /// Requests the next picture, or attaches to the tab that the view changes to.
    fn use_frame(&mut self) -> Option<()> {
        match self.next_frame.take() {
            Some((_, FrameUse::Next(frame))) => {
                if let Some(session) = self.shown_session() {
                    self.command(Some(&session), "Page.screencastFrameAck", json!({ "sessionId": frame }))?;
                }
            }
            Some((_, FrameUse::Tab)) => {
                if let Some(page) = self.shown.take() {
                    // Ends the pictures, too.
                    self.command(None, "Target.detachFromTarget", json!({ "sessionId": page.session_id }))?;
                }
                (self.unconfirmed, self.has_picture) = (None, false);
                let target = self.tabs.current().to_owned();
                let params = json!({"targetId": target, "flatten": true});
                let id = self.command(None, "Target.attachToTarget", params)?;
                self.attaching = Some((id, target));
            }
            None => {}
        }
        Some(())
    }

    /// Updates the list of the viewer and its view after a change of the tabs.
    fn on_tab_change(&mut self, change: TabChange) {
        match change {
            TabChange::Nothing => return,
            TabChange::List => {}
            TabChange::Current => {
                let at = match &self.next_frame {
                    Some((at, _)) => *at,
                    None => self.connection.reserve_frame(),
                };
                self.next_frame = Some((at, FrameUse::Tab));
            }
        }
        self.next_list.get_or_insert_with(|| self.list_from.max(Instant::now()));
    }

    /// Handles a message of the browser. Returns `None` if the last tab is closed or the viewer is gone.
    async fn on_browser_message<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        message: &str,
        socket: &mut WebSocketStream<S>,
    ) -> Option<()> {
        let mut message: Value = serde_json::from_str(message).ok()?;
        let shown = self.shown.as_ref().filter(|page| message["sessionId"] == page.session_id.as_str());
        let tab = shown.map(|page| page.target_id.clone());
        let Some(method) = message["method"].as_str() else { return self.on_response(&message) };
        let change = match method {
            "Page.screencastFrame" if tab.is_some() => {
                let params = &mut message["params"];
                self.unconfirmed = Some(params["sessionId"].take());
                self.has_picture = true;
                let frame = json!({
                    "kind": "frame",
                    "tab": tab,
                    "data": params["data"].take(),
                    "width": params["metadata"]["deviceWidth"].take(),
                    "height": params["metadata"]["deviceHeight"].take(),
                });
                return send(socket, &frame).await;
            }
            "Page.screencastVisibilityChanged" if tab.is_some() => {
                let visibility = json!({"kind": "visibility", "visible": message["params"]["visible"]});
                return send(socket, &visibility).await;
            }
            "Target.targetCreated" => self.tabs.on_created(&message["params"]["targetInfo"]),
            "Target.targetInfoChanged" => self.tabs.on_changed(&message["params"]["targetInfo"]),
            "Target.targetDestroyed" => self.tabs.on_destroyed(message["params"]["targetId"].as_str()?)?,
            _ => TabChange::Nothing,
        };
        self.on_tab_change(change);
        Some(())
    }

    /// Handles the response to a command.
    fn on_response(&mut self, message: &Value) -> Option<()> {
        let id = message["id"].as_u64();
        if id == Some(self.listing) {
            let change = self.tabs.set_listed();
            self.on_tab_change(change);
        }
        for target in message["result"]["targetInfos"].as_array().into_iter().flatten() {
            let change = self.tabs.on_changed(target);
            self.on_tab_change(change);
        }
        let attached = self.attaching.take_if(|(attaching, _)| id == Some(*attaching));
        // Without a session, the tab is gone, and its end is about to be reported.
        let Some(session) = message["result"]["sessionId"].as_str() else { return Some(()) };
        if let Some((_, target_id)) = attached.filter(|(_, target)| target == self.tabs.current()) {
            self.shown = Some(PageTarget { target_id, session_id: session.to_owned() });
            return self.start_pictures();
        }
        // The view has changed again meanwhile.
        self.command(None, "Target.detachFromTarget", json!({ "sessionId": session }))?;
        Some(())
    }

    /// Handles a message of the viewer. Returns `None` if the session has ended or the message is not one of the page.
    fn on_viewer_message(&mut self, text: &str) -> Option<()> {
        self.heard = Instant::now();
        let message: Value = serde_json::from_str(text).ok()?;
        match message["kind"].as_str()? {
            "alive" => {}
            "shown" => {
                if let Some(frame) = self.unconfirmed.take()
                    && self.next_frame.is_none()
                {
                    self.next_frame = Some((self.connection.reserve_frame(), FrameUse::Next(frame)));
                }
            }
            "tab" => {
                let change = self.tabs.choose(message["tab"].as_str()?);
                self.on_tab_change(change);
                if self.mode == ViewMode::Interactive && self.tabs.is_open(message["tab"].as_str()?) {
                    self.use_browser(None, "Target.activateTarget", json!({ "targetId": message["tab"] }))?;
                }
            }
            "close" => {
                if self.mode == ViewMode::Interactive && self.tabs.is_open(message["tab"].as_str()?) {
                    self.use_browser(None, "Target.closeTarget", json!({ "targetId": message["tab"] }))?;
                }
            }
            _ => {
                let (method, params) = input(&message)?;
                if let Some(session) = self.shown_session()
                    && self.mode == ViewMode::Interactive
                {
                    self.use_browser(Some(&session), method, params)?;
                }
            }
        }
        Some(())
    }

    /// Sends a command of the viewer, which counts as use of the session. Returns `None` if the session has ended.
    fn use_browser(&mut self, session: Option<&str>, method: &str, params: Value) -> Option<()> {
        let command = self.message(session, method, params);
        self.connection.send(&command).ok()
    }
}

/// Sends a message to the page of a viewer. Returns `None` if it is gone.
async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    message: &Value,
) -> Option<()> {
    socket.send(Message::text(message.to_string())).await.ok()
}
