//! `GET /v2/browser/{id}/cdp`: the DevTools protocol over a WebSocket, for Playwright and Puppeteer.
//!
//! The token of the URL is the only credential: these clients send no headers. The messages of the client pass the filter
//! of `websvc-browser`.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Request;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use websvc_session::ClientConnection;
use websvc_transport::{Body, ServerBody};
use websvc_types::ErrorCode;

use super::session_id;
use crate::handler::query::parameter;
use crate::handler::watch::{Handshake, is_websocket_request};
use crate::response::{ApiError, HttpResponse};
use crate::service::RequestContext;

/// The maximum size of a message of a client: a document that it sets, or a script.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// The interval of pings.
const PING_INTERVAL: Duration = Duration::from_secs(25);
/// The time without any message of the client after which it counts as gone.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(60);

/// Connects a client to a session.
pub(super) async fn connect(
    context: &RequestContext<'_>,
    request: &Request<ServerBody>,
) -> Result<HttpResponse, ApiError> {
    let id = session_id(context, request)?;
    if !is_websocket_request(request) {
        let text = "This is the WebSocket of the DevTools protocol: connect with connectOverCDP of Playwright, or \
                    connect of Puppeteer";
        return Err(ApiError::upgrade_required(text));
    }
    let handshake = Handshake::from_request(request)?;
    let token = parameter(request.uri().query(), "token").unwrap_or_default();
    if token.is_empty() {
        return Err(ApiError::new(ErrorCode::NotFound, "Browser session not found: the URL has no token"));
    }
    let connection = context.state.browser_sessions.connect(id, &token).await?;
    let request_id = context.id.clone();
    let body = Body::upgrade(move |stream, mut drain| async move {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let reason = tokio::select! {
            reason = relay(&mut socket, connection) => reason,
            () = drain.wait() => "the service is shutting down",
        };
        let frame = CloseFrame { code: CloseCode::Away, reason: reason.into() };
        // The client may be gone.
        let _ = socket.close(Some(frame)).await;
        tracing::info!(id = request_id, %reason, "CDP connection closed");
    });
    Ok(handshake.into_response(body))
}

/// Relays messages in both directions until one end closes. Returns the reason.
async fn relay<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    mut connection: ClientConnection,
) -> &'static str {
    let mut heard = Instant::now();
    let mut ping_at = heard + PING_INTERVAL;
    loop {
        tokio::select! {
            message = socket.next() => {
                heard = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) if connection.send(&text).is_err() => {
                        return "the browser session has ended";
                    }
                    Some(Ok(Message::Binary(bytes))) => {
                        let sent = std::str::from_utf8(&bytes).map(|text| connection.send(text));
                        if !matches!(sent, Ok(Ok(()))) {
                            return "the message is not text, or the browser session has ended";
                        }
                    }
                    Some(Ok(Message::Text(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return "the client has closed the connection",
                }
            }
            message = connection.receive() => {
                let Some(message) = message else { return "the browser session has ended" };
                if socket.send(Message::text(message)).await.is_err() {
                    return "the client has closed the connection";
                }
            }
            () = sleep_until(ping_at) => {
                if heard.elapsed() >= SILENCE_TIMEOUT {
                    return "the client does not respond";
                }
                ping_at = Instant::now() + PING_INTERVAL;
                if socket.send(Message::Ping(Bytes::new())).await.is_err() {
                    return "the client has closed the connection";
                }
            }
        }
    }
}
