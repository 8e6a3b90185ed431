//! The WebSocket of the live view: pictures of a tab, the list of the tabs, and mouse and keyboard of the viewer.
//!
//! The next picture is requested when the viewer has shown the last one, at most 15 times per second for all viewers of a
//! session. Without viewers, no pictures are taken. A viewer that only watches changes nothing in the browser: the tab that
//! it chooses is shown to itself.

use std::convert::Infallible;
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
use websvc_session::{ChannelClosed, ClientConnection, PageTarget, ViewMode};
use websvc_transport::{Body, ServerBody};

use super::input::input;
use super::tabs::{TabChange, Tabs};
use super::view_end::{SILENCE_TIMEOUT, ViewEnd};
use crate::handler::watch::Handshake;
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The minimum time between two lists of the tabs. A page can change its title at any rate.
const LIST_INTERVAL: Duration = Duration::from_millis(250);
/// The interval between two looks at the titles of the tabs, whose changes Chromium does not report.
const TITLE_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum size of a message of a viewer.
const MAX_MESSAGE_BYTES: usize = 16 * 1024;
/// The interval of pings, which show a proxy and the replica that passes them on that the page only does not change.
const PING_INTERVAL: Duration = Duration::from_secs(25);

/// The state of one viewer.
struct Viewer {
    connection: ClientConnection,
    mode: ViewMode,
    tabs: Tabs,
    /// The tab that the viewer sees; `None` while another one is attached.
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
    let request_id = context.id.clone();
    let body = Body::upgrade(move |stream, mut drain| async move {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let mut viewer = Viewer::new(connection, page, mode);
        let end = tokio::select! {
            shown = viewer.show(&mut socket) => {
                let Err(end) = shown;
                end
            }
            () = drain.wait() => ViewEnd::Shutdown,
        };
        tracing::debug!(id = request_id, reason = end.reason(), "live view closed");
        // The viewer may be gone.
        let _ = socket.close(end.close_frame()).await;
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

    /// Shows the session until it ends, the viewer leaves, or the last tab is closed.
    async fn show<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        socket: &mut WebSocketStream<S>,
    ) -> Result<Infallible, ViewEnd> {
        self.listing = self.command(None, "Target.setDiscoverTargets", json!({"discover": true}))?;
        sleep_until(self.connection.reserve_frame()).await;
        self.start_pictures()?;
        loop {
            match self.next_event(socket).await {
                ViewEvent::Viewer(Some(Ok(Message::Text(text)))) => self.on_viewer_message(&text)?,
                ViewEvent::Viewer(Some(Ok(Message::Close(_))) | None) => return Err(ViewEnd::Left),
                ViewEvent::Viewer(Some(Err(error))) => return Err(ViewEnd::from_error(&error)),
                ViewEvent::Viewer(Some(Ok(_))) => {}
                ViewEvent::Browser(None) => return Err(ViewEnd::SessionEnded),
                ViewEvent::Silence => return Err(ViewEnd::Silent),
                ViewEvent::Browser(Some(message)) => self.on_browser_message(&message, socket).await?,
                ViewEvent::Frame => self.use_frame()?,
                ViewEvent::List => {
                    self.next_list = None;
                    self.list_from = Instant::now() + LIST_INTERVAL;
                    send(socket, &self.tabs.to_message()).await?;
                }
                ViewEvent::Ping => {
                    self.next_ping = Instant::now() + PING_INTERVAL;
                    socket.send(Message::Ping(Bytes::new())).await.map_err(|_| ViewEnd::Left)?;
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
    fn start_pictures(&mut self) -> Result<(), ViewEnd> {
        let Some(session) = self.shown_session() else { return Ok(()) };
        let screencast =
            json!({"format": "jpeg", "quality": 60, "maxWidth": 1280, "maxHeight": 1280, "everyNthFrame": 1});
        self.command(Some(&session), "Page.enable", json!({}))?;
        self.command(Some(&session), "Page.startScreencast", screencast)?;
        Ok(())
    }

    /// Returns the protocol session of the tab that the viewer sees.
    fn shown_session(&self) -> Option<String> {
        self.shown.as_ref().map(|page| page.session_id.clone())
    }

    /// Sends a command that does not count as use of the session. Returns its ID.
    fn command(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<u64, ViewEnd> {
        let command = self.message(session, method, params);
        self.connection.send_unnoticed(&command).map_err(|ChannelClosed| ViewEnd::SessionEnded)?;
        Ok(self.last_id)
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
    fn use_frame(&mut self) -> Result<(), ViewEnd> {
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
        Ok(())
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

    /// Handles a message of the browser.
    async fn on_browser_message<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        message: &str,
        socket: &mut WebSocketStream<S>,
    ) -> Result<(), ViewEnd> {
        let mut message: Value = serde_json::from_str(message).map_err(|_| ViewEnd::InvalidEvent)?;
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
            "Target.targetDestroyed" => {
                let target = message["params"]["targetId"].as_str().ok_or(ViewEnd::InvalidEvent)?;
                self.tabs.on_destroyed(target).ok_or(ViewEnd::NoTab)?
            }
            _ => TabChange::Nothing,
        };
        self.on_tab_change(change);
        Ok(())
    }

    /// Handles the response to a command.
    fn on_response(&mut self, message: &Value) -> Result<(), ViewEnd> {
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
        let Some(session) = message["result"]["sessionId"].as_str() else { return Ok(()) };
        if let Some((_, target_id)) = attached.filter(|(_, target)| target == self.tabs.current()) {
            self.shown = Some(PageTarget { target_id, session_id: session.to_owned() });
            return self.start_pictures();
        }
        // The view has changed again meanwhile.
        self.command(None, "Target.detachFromTarget", json!({ "sessionId": session }))?;
        Ok(())
    }

    /// Handles a message of the viewer.
    fn on_viewer_message(&mut self, text: &str) -> Result<(), ViewEnd> {
        self.heard = Instant::now();
        let message: Value = serde_json::from_str(text).map_err(|_| ViewEnd::InvalidMessage)?;
        match message["kind"].as_str().ok_or(ViewEnd::InvalidMessage)? {
            "alive" => {}
            "shown" => {
                if let Some(frame) = self.unconfirmed.take()
                    && self.next_frame.is_none()
                {
                    self.next_frame = Some((self.connection.reserve_frame(), FrameUse::Next(frame)));
                }
            }
            "tab" => {
                let tab = message["tab"].as_str().ok_or(ViewEnd::InvalidMessage)?;
                let change = self.tabs.choose(tab);
                self.on_tab_change(change);
                if self.mode == ViewMode::Interactive && self.tabs.is_open(tab) {
                    self.use_browser(None, "Target.activateTarget", json!({ "targetId": tab }))?;
                }
            }
            "close" => {
                let tab = message["tab"].as_str().ok_or(ViewEnd::InvalidMessage)?;
                if self.mode == ViewMode::Interactive && self.tabs.is_open(tab) {
                    self.use_browser(None, "Target.closeTarget", json!({ "targetId": tab }))?;
                }
            }
            _ => {
                let (method, params) = input(&message).ok_or(ViewEnd::InvalidMessage)?;
                if let Some(session) = self.shown_session()
                    && self.mode == ViewMode::Interactive
                {
                    self.use_browser(Some(&session), method, params)?;
                }
            }
        }
        Ok(())
    }

    /// Sends a command of the viewer, which counts as use of the session.
    fn use_browser(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<(), ViewEnd> {
        let command = self.message(session, method, params);
        self.connection.send(&command).map_err(|ChannelClosed| ViewEnd::SessionEnded)
    }
}

/// Sends a message to the page of a viewer.
async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    message: &Value,
) -> Result<(), ViewEnd> {
    socket.send(Message::text(message.to_string())).await.map_err(|_| ViewEnd::Left)
}
