//! `POST /v2/monitor/notification/test`: a test message to a channel, and the rules for the addresses of channels.

use http::{Request, StatusCode};
use url::Url;
use websvc_store::KeyScope;
use websvc_transport::ServerBody;
use websvc_types::monitor::{ChannelTestResponse, NotificationChannel};
use websvc_validate::{Channel, Checked, MonitorDefinition, read_request};

use crate::handler::webhook::check_target;
use crate::response::{ApiError, HttpResponse, json};
use crate::route::{Endpoint, OperationGroup, RequestBody, handler};
use crate::service::RequestContext;

pub(crate) const ENDPOINTS: &[Endpoint] = &[Endpoint::post(
    "/v2/monitor/notification/test",
    OperationGroup::Monitor,
    handler!(|context, request| test(&context, request).await),
)
.name("monitor-notification-test")
.scope(KeyScope::Monitor)
.body(RequestBody::OPTIONS)];

/// Sends a test message. That the service of the channel refuses it is an outcome, not an error.
///
/// # Errors
/// 400 for an invalid channel, and for one at an address to which no messages are sent.
async fn test(context: &RequestContext<'_>, request: Request<ServerBody>) -> Result<HttpResponse, ApiError> {
    let body = crate::handler::read_body(request)?;
    let Checked { plan: (NotificationChannel { template, .. }, channel), warnings: _ } =
        read_request::<NotificationChannel>(&body, ())?;
    check_target(context, &channel.endpoint, "/url")?;
    let service = channel.service.as_str().to_owned();
    let error = context.state.monitors.send_test(&channel, template.as_ref()).await.err();
    let error = error.map(|error| format!("the channel: {error}"));
    Ok(json(StatusCode::OK, &ChannelTestResponse { success: error.is_none(), service, error }))
}

/// Checks the addresses to which a monitor sends messages.
///
/// # Errors
/// 400 if one of them is an address to which no messages are sent.
pub(super) fn check_channels(
    context: &RequestContext<'_>,
    definition: &MonitorDefinition,
) -> Result<(), ApiError> {
    let Some(notification) = &definition.notification else { return Ok(()) };
    let slack = notification.slack.as_ref().and_then(|slack| slack.webhook_url.as_deref());
    if let Some(url) = slack.and_then(|url| Url::parse(url).ok()) {
        check_target(context, &url, "/notification/slack/webhookUrl")?;
    }
    for (index, channel) in notification.channels.iter().flatten().enumerate() {
        if let Ok(channel) = Channel::parse(&channel.url) {
            check_target(context, &channel.endpoint, &format!("/notification/channels/{index}/url"))?;
        }
    }
    Ok(())
}
