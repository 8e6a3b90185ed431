//! Messages for the channels of messaging services.
//!
//! Texts of pages are sent where the service renders no markup, or as code, so that a page can neither mention people nor
//! hide the target of a link.

mod service;
mod template;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use url::Url;
use websvc_validate::{Channel, ChannelService};

use crate::digest::{DiffMode, Digest};
use crate::email::body;
use crate::report::{CheckReport, CheckStatus};
use crate::slack::slack_payload;
use crate::wording::headline;

/// A request that sends a message to a channel.
#[derive(Debug, Clone)]
pub struct ChannelMessage {
    /// The method.
    pub method: Method,
    /// The URL, which may contain the credentials of the channel.
    pub url: Url,
    /// Headers, which may contain the credentials of the channel.
    pub headers: HeaderMap,
    /// The body, which is JSON.
    pub body: Bytes,
}

/// The parts of a message that all services show.
struct Parts<'a> {
    report: &'a CheckReport,
    digest: Digest,
    title: String,
    /// The dashboard's page of the check, or the first page of the report.
    link: Option<String>,
}

impl Parts<'_> {
    /// Returns the text without its headline, of at most `max_bytes` bytes. It is cut between lines.
    fn text(&self, max_bytes: usize) -> String {
        const MORE: &str = "…";
        let text = body(self.report, &self.digest);
        if text.len() <= max_bytes {
            return text;
        }
        let mut cut = String::new();
        for line in text.lines() {
            if cut.len() + line.len() + MORE.len() + 1 > max_bytes {
                break;
            }
            cut.push_str(line);
            cut.push('\n');
        }
        cut + MORE
    }

    /// Returns whether the check failed, or pages could not be checked.
    fn has_errors(&self) -> bool {
        self.report.status == CheckStatus::Failed || self.report.counts.error > 0
    }
}

/// Returns the message about a check for a channel. `template` replaces the body for a receiver of JSON; `id` identifies
/// the message, so that a service which knows IDs shows a repeated message once. `None` if a credential cannot be sent in
/// a header.
#[must_use]
pub fn channel_message(
    channel: &Channel,
    template: Option<&Map<String, Value>>,
    report: &CheckReport,
    id: &str,
) -> Option<ChannelMessage> {
    let digest = Digest::new(report, DiffMode::Include);
    let first_link = || digest.pages.iter().find_map(|page| page.link.clone());
    let link = report.dashboard_url.as_ref().map(|url| url.as_str().to_owned()).or_else(first_link);
    let parts = Parts { report, title: headline(report), link, digest };
    let body = match channel.service {
        ChannelService::Ntfy => service::ntfy(channel, &parts),
        ChannelService::Gotify => service::gotify(&parts),
        ChannelService::Discord => service::discord(&parts),
        ChannelService::Telegram => service::telegram(channel, &parts),
        ChannelService::Slack => slack_payload(report, DiffMode::Include),
        ChannelService::Teams => service::teams(&parts),
        ChannelService::Matrix => service::matrix(&parts),
        ChannelService::Pushover => service::pushover(channel, &parts),
        _ => match template {
            Some(template) => template::fill(template, &parts),
            None => service::json(&parts),
        },
    };
    let mut message = ChannelMessage {
        method: Method::POST,
        url: channel.endpoint.clone(),
        headers: HeaderMap::new(),
        body: Bytes::from(body.to_string()),
    };
    if channel.service == ChannelService::Matrix {
        message.method = Method::PUT;
        message.url = message.url.join(id).ok()?;
    }
    if channel.service == ChannelService::Gotify {
        let token = channel.token.as_deref().unwrap_or_default();
        message.headers.insert(HeaderName::from_static("x-gotify-key"), secret(token)?);
    }
    if let Some(authorization) = &channel.authorization {
        message.headers.insert(AUTHORIZATION, secret(authorization)?);
    }
    Some(message)
}

fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Returns a short name of a channel, which does not reveal its URL.
#[must_use]
pub fn channel_key(url: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(url.as_bytes())[..16])
}
