//! The messaging services, and the forms of the URLs of their channels.

use url::Url;

use super::parts::Parts;
use super::{Channel, InvalidChannel};

/// The schemes of channels, as error messages list them.
pub(super) const SCHEMES: &str = "ntfy, ntfys, gotify, gotifys, discord, tgram, slack, mmost, mmosts, workflows, matrix, \
                                  matrixs, pover, json, jsons, http, https";

/// A messaging service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChannelService {
    /// ntfy.
    Ntfy,
    /// Gotify.
    Gotify,
    /// Discord.
    Discord,
    /// A bot of Telegram.
    Telegram,
    /// Slack, Mattermost or another service with the same incoming webhooks.
    Slack,
    /// Microsoft Teams, through a workflow of Power Automate.
    Teams,
    /// Matrix.
    Matrix,
    /// Pushover.
    Pushover,
    /// A receiver of JSON, whose form the sender chooses.
    Json,
}

impl ChannelService {
    /// Returns the name of the service.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ntfy => "ntfy",
            Self::Gotify => "gotify",
            Self::Discord => "discord",
            Self::Telegram => "telegram",
            Self::Slack => "slack",
            Self::Teams => "teams",
            Self::Matrix => "matrix",
            Self::Pushover => "pushover",
            Self::Json => "json",
        }
    }
}

/// Reads a channel with a scheme of its own.
pub(super) fn from_parts(scheme: &str, parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    match scheme {
        "ntfy" | "ntfys" => ntfy(scheme == "ntfys", parts),
        "gotify" | "gotifys" => gotify(scheme == "gotifys", parts),
        "mmost" | "mmosts" => mattermost(scheme == "mmosts", parts),
        "matrix" | "matrixs" => matrix(scheme == "matrixs", parts),
        "json" | "jsons" => json(scheme == "jsons", parts),
        "discord" => discord(parts),
        "tgram" => telegram(parts),
        "slack" => slack(parts),
        "workflows" => workflow(parts),
        "pover" => pushover(parts),
        _ => Err(InvalidChannel::Scheme),
    }
}

/// Reads the address of a webhook: that of a known service, or of a receiver of JSON.
pub(super) fn from_web_url(text: &str) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("https://HOST/PATH");
    let mut endpoint = Url::parse(text).map_err(|_| FORM)?;
    let service = known_host(&endpoint);
    let topic = endpoint.path().trim_matches('/').to_owned();
    if service == Some(ChannelService::Ntfy) && !topic.is_empty() && !topic.contains('/') {
        return ntfy(true, &Parts { host: "ntfy.sh".to_owned(), path: vec![topic], ..Parts::default() });
    }
    let (_, rest) = text.split_once("://").ok_or(FORM)?;
    let authorization = Parts::parse(rest).basic_authorization();
    endpoint.set_username("").and_then(|()| endpoint.set_password(None)).map_err(|()| FORM)?;
    let service = service.filter(|service| *service != ChannelService::Ntfy).unwrap_or(ChannelService::Json);
    Ok(Channel { authorization, ..channel(service, endpoint) })
}

/// Returns the service of an address by its host.
fn known_host(url: &Url) -> Option<ChannelService> {
    let host = url.host_str()?;
    match host {
        "ntfy.sh" => Some(ChannelService::Ntfy),
        "hooks.slack.com" => Some(ChannelService::Slack),
        "discord.com" | "discordapp.com" if url.path().starts_with("/api/webhooks/") => {
            Some(ChannelService::Discord)
        }
        _ if host.ends_with(".logic.azure.com") || host.ends_with(".api.powerplatform.com") => {
            Some(ChannelService::Teams)
        }
        _ => None,
    }
}

fn channel(service: ChannelService, endpoint: Url) -> Channel {
    Channel { service, endpoint, authorization: None, receiver: None, token: None }
}

/// Returns a URL with a path, whose segments are encoded; `None` if the host is not valid.
fn web_url(is_https: bool, host: &str, path: &[&str]) -> Option<Url> {
    let has_host = !host.is_empty() && !host.contains(['/', '?', '#', '@', '\\']);
    let scheme = if is_https { "https" } else { "http" };
    let mut url = Url::parse(&format!("{scheme}://{host}/")).ok().filter(|_| has_host)?;
    url.path_segments_mut().ok()?.pop_if_empty().extend(path);
    Some(url)
}

fn ntfy(is_https: bool, parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("ntfy://TOPIC or ntfys://[TOKEN@]HOST/TOPIC");
    let (endpoint, topic) = match parts.path.as_slice() {
        [] => (web_url(true, "ntfy.sh", &[]), parts.host.clone()),
        [topic] => (web_url(is_https, &parts.host, &[]), topic.clone()),
        _ => return Err(FORM),
    };
    let endpoint = endpoint.filter(|_| !topic.is_empty()).ok_or(FORM)?;
    let token = parts.user.as_deref().filter(|_| parts.password.is_none());
    let authorization = token.map(|token| format!("Bearer {token}")).or_else(|| parts.basic_authorization());
    Ok(Channel { authorization, receiver: Some(topic), ..channel(ChannelService::Ntfy, endpoint) })
}

fn gotify(is_https: bool, parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("gotifys://HOST/TOKEN");
    let (token, base) = parts.path.split_last().ok_or(FORM)?;
    let path: Vec<&str> = base.iter().map(String::as_str).chain(["message"]).collect();
    let endpoint = web_url(is_https, &parts.host, &path).ok_or(FORM)?;
    Ok(Channel { token: Some(token.clone()), ..channel(ChannelService::Gotify, endpoint) })
}

fn mattermost(is_https: bool, parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("mmosts://HOST/TOKEN");
    let (token, base) = parts.path.split_last().ok_or(FORM)?;
    let path: Vec<&str> = base.iter().map(String::as_str).chain(["hooks", token]).collect();
    let endpoint = web_url(is_https, &parts.host, &path).ok_or(FORM)?;
    Ok(channel(ChannelService::Slack, endpoint))
}

fn matrix(is_https: bool, parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("matrixs://ACCESS_TOKEN@HOST/!ROOM_ID");
    let (Some(token), [room]) = (&parts.user, parts.path.as_slice()) else { return Err(FORM) };
    if !room.starts_with('!') || parts.password.is_some() {
        return Err(FORM);
    }
    // The last segment is the ID of the transaction, which the sender adds.
    let path = ["_matrix", "client", "v3", "rooms", room, "send", "m.room.message", ""];
    let endpoint = web_url(is_https, &parts.host, &path).ok_or(FORM)?;
    Ok(Channel {
        authorization: Some(format!("Bearer {token}")),
        ..channel(ChannelService::Matrix, endpoint)
    })
}

fn json(is_https: bool, parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("jsons://[USER:PASSWORD@]HOST/PATH");
    let path: Vec<&str> = parts.path.iter().map(String::as_str).collect();
    let mut endpoint = web_url(is_https, &parts.host, &path).ok_or(FORM)?;
    endpoint.set_query(parts.query);
    Ok(Channel { authorization: parts.basic_authorization(), ..channel(ChannelService::Json, endpoint) })
}

fn discord(parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("discord://ID/TOKEN");
    let (id, [token]) = (&parts.host, parts.path.as_slice()) else { return Err(FORM) };
    let endpoint = web_url(true, "discord.com", &["api", "webhooks", id, token]);
    Ok(channel(ChannelService::Discord, endpoint.filter(|_| !id.is_empty()).ok_or(FORM)?))
}

fn telegram(parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("tgram://BOT_TOKEN/CHAT_ID");
    let (token, [chat]) = (&parts.host, parts.path.as_slice()) else { return Err(FORM) };
    let bot = format!("bot{token}");
    let endpoint = web_url(true, "api.telegram.org", &[&bot, "sendMessage"]);
    let endpoint = endpoint.filter(|_| token.contains(':')).ok_or(FORM)?;
    Ok(Channel { receiver: Some(chat.clone()), ..channel(ChannelService::Telegram, endpoint) })
}

fn slack(parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("slack://TOKEN_A/TOKEN_B/TOKEN_C");
    let (first, [second, third]) = (&parts.host, parts.path.as_slice()) else { return Err(FORM) };
    let endpoint = web_url(true, "hooks.slack.com", &["services", first, second, third]);
    Ok(channel(ChannelService::Slack, endpoint.filter(|_| !first.is_empty()).ok_or(FORM)?))
}

fn workflow(parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("workflows://HOST/WORKFLOW/SIGNATURE");
    let [workflow, signature] = parts.path.as_slice() else { return Err(FORM) };
    let path = ["workflows", workflow, "triggers", "manual", "paths", "invoke"];
    let mut endpoint = web_url(true, &parts.host, &path).ok_or(FORM)?;
    endpoint
        .query_pairs_mut()
        .append_pair("api-version", "2016-06-01")
        .append_pair("sp", "/triggers/manual/run")
        .append_pair("sv", "1.0")
        .append_pair("sig", signature);
    Ok(channel(ChannelService::Teams, endpoint))
}

fn pushover(parts: &Parts<'_>) -> Result<Channel, InvalidChannel> {
    const FORM: InvalidChannel = InvalidChannel::Form("pover://USER_KEY@TOKEN");
    let (Some(user), []) = (&parts.user, parts.path.as_slice()) else { return Err(FORM) };
    let endpoint = web_url(true, "api.pushover.net", &["1", "messages.json"]);
    let endpoint = endpoint.filter(|_| !parts.host.is_empty()).ok_or(FORM)?;
    let (receiver, token) = (Some(user.clone()), Some(parts.host.clone()));
    Ok(Channel { receiver, token, ..channel(ChannelService::Pushover, endpoint) })
}
