//! URLs of notification channels, in the form that Apprise introduced: `ntfy://topic`, `tgram://token/chat`.
//!
//! [`Channel::parse`] converts such a URL to the address that requests go to and the credentials they need. Addresses of
//! well-known webhooks, such as `https://discord.com/api/webhooks/…`, are recognized as they are.

mod parts;
mod service;

use url::Url;

use parts::Parts;
pub use service::ChannelService;

/// The names that the texts of a template may have in double braces.
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "title",
    "message",
    "monitor",
    "monitorId",
    "checkId",
    "status",
    "url",
    "new",
    "changed",
    "removed",
    "error",
];

/// A receiver of messages at a messaging service.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Channel {
    /// The service.
    pub service: ChannelService,
    /// The http or https URL that requests go to. It may contain a secret.
    pub endpoint: Url,
    /// The value of an `Authorization` header.
    pub authorization: Option<String>,
    /// The receiver, which is not part of the address: topic, chat or user.
    pub receiver: Option<String>,
    /// The token that a message needs, which is not part of the address.
    pub token: Option<String>,
}

/// The reason why a text is not the URL of a channel. It does not repeat the URL, which has secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChannel {
    /// The scheme is not known.
    #[error("its scheme must be one of {}", service::SCHEMES)]
    Scheme,
    /// The URL does not have the parts that its service needs.
    #[error("it must have the form {0}")]
    Form(&'static str),
}

impl Channel {
    /// Returns the channel of an incoming webhook of Slack, or of a service that accepts the same messages.
    #[must_use]
    pub fn slack(endpoint: Url) -> Self {
        Self { service: ChannelService::Slack, endpoint, authorization: None, receiver: None, token: None }
    }

    /// Parses the URL of a channel.
    ///
    /// # Errors
    /// [`InvalidChannel`] if the scheme is not known, or parts are missing.
    ///
    /// ```
    /// use websvc_validate::{Channel, ChannelService};
    ///
    /// let channel = Channel::parse("ntfys://tk_secret@push.example/tea")?;
    /// assert_eq!(channel.service, ChannelService::Ntfy);
    /// assert_eq!(channel.endpoint.as_str(), "https://push.example/");
    /// assert_eq!(channel.receiver.as_deref(), Some("tea"));
    /// # Ok::<(), websvc_validate::InvalidChannel>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, InvalidChannel> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").ok_or(InvalidChannel::Scheme)?;
        let scheme = scheme.to_ascii_lowercase();
        if matches!(scheme.as_str(), "http" | "https") {
            return service::from_web_url(text);
        }
        service::from_parts(&scheme, &Parts::parse(rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the endpoint, receiver, token and authorization of a channel.
    #[track_caller]
    fn check(
        text: &str,
        service: ChannelService,
        endpoint: &str,
        [receiver, token, authorization]: [&str; 3],
    ) {
        let channel = Channel::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let text_of = |value: &Option<String>| value.clone().unwrap_or_default();
        let others = [&channel.receiver, &channel.token, &channel.authorization].map(text_of);
        assert_eq!((channel.service, channel.endpoint.as_str()), (service, endpoint), "{text}");
        assert_eq!(others, [receiver, token, authorization], "{text}");
    }

    #[test]
    fn channels_of_own_servers() {
        use ChannelService::{Gotify, Json, Matrix, Ntfy, Slack};
        check("ntfy://tea", Ntfy, "https://ntfy.sh/", ["tea", "", ""]);
        check("ntfy://push.test:8080/tea", Ntfy, "http://push.test:8080/", ["tea", "", ""]);
        check(
            "NTFYS://anna:a%40b@push.test/tea",
            Ntfy,
            "https://push.test/",
            ["tea", "", "Basic YW5uYTphQGI="],
        );
        check("ntfys://tk_1@push.test/tea", Ntfy, "https://push.test/", ["tea", "", "Bearer tk_1"]);
        check("gotifys://push.test/base/A1", Gotify, "https://push.test/base/message", ["", "A1", ""]);
        check("mmosts://chat.test/key1", Slack, "https://chat.test/hooks/key1", ["", "", ""]);
        check(
            "matrixs://syt_1@chat.test/!room:chat.test",
            Matrix,
            "https://chat.test/_matrix/client/v3/rooms/!room:chat.test/send/m.room.message/",
            ["", "", "Bearer syt_1"],
        );
        check("json://[::1]:9000/a?b=c%20d", Json, "http://[::1]:9000/a?b=c%20d", ["", "", ""]);
        check("jsons://anna:tea@hooks.test", Json, "https://hooks.test/", ["", "", "Basic YW5uYTp0ZWE="]);
    }

    #[test]
    fn channels_of_hosted_services() {
        use ChannelService::{Discord, Pushover, Slack, Teams, Telegram};
        check("discord://12/ab-C", Discord, "https://discord.com/api/webhooks/12/ab-C", ["", "", ""]);
        check(
            "tgram://12:AB-c/-100",
            Telegram,
            "https://api.telegram.org/bot12:AB-c/sendMessage",
            ["-100", "", ""],
        );
        check("slack://T1/B2/c3", Slack, "https://hooks.slack.com/services/T1/B2/c3", ["", "", ""]);
        check(
            "pover://user@token",
            Pushover,
            "https://api.pushover.net/1/messages.json",
            ["user", "token", ""],
        );
        check(
            "workflows://prod-1.westeurope.logic.azure.com:443/flow/sig-1",
            Teams,
            "https://prod-1.westeurope.logic.azure.com/workflows/flow/triggers/manual/paths/invoke?\
             api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=sig-1",
            ["", "", ""],
        );
    }

    #[test]
    fn addresses_of_webhooks_are_recognized() {
        use ChannelService::{Discord, Json, Ntfy, Slack, Teams};
        for (url, service) in [
            ("https://discord.com/api/webhooks/12/abc", Discord),
            ("https://discordapp.com/api/webhooks/12/abc", Discord),
            ("https://hooks.slack.com/services/T1/B2/c3", Slack),
            ("https://prod-1.westeurope.logic.azure.com:443/workflows/1?sig=2", Teams),
            ("https://a.environment.api.powerplatform.com/powerautomate/1?sig=2", Teams),
            ("http://hooks.test/a", Json),
            // Another server may use the same path.
            ("https://discord.com.evil.test/api/webhooks/12/abc", Json),
        ] {
            let channel = Channel::parse(url).unwrap();
            assert_eq!((channel.service, channel.endpoint), (service, Url::parse(url).unwrap()), "{url}");
        }
        check("https://ntfy.sh/tea", Ntfy, "https://ntfy.sh/", ["tea", "", ""]);
        check("https://anna:tea@hooks.test/a", Json, "https://hooks.test/a", ["", "", "Basic YW5uYTp0ZWE="]);
    }

    #[test]
    fn incomplete_channels_name_the_form() {
        for (text, expected) in [
            ("ntfy://", "it must have the form ntfy://TOPIC or ntfys://[TOKEN@]HOST/TOPIC"),
            ("gotify://push.test", "it must have the form gotifys://HOST/TOKEN"),
            ("discord://12", "it must have the form discord://ID/TOKEN"),
            ("tgram://12:ab", "it must have the form tgram://BOT_TOKEN/CHAT_ID"),
            ("tgram://12:ab/1/2", "it must have the form tgram://BOT_TOKEN/CHAT_ID"),
            ("matrixs://chat.test/!a:b", "it must have the form matrixs://ACCESS_TOKEN@HOST/!ROOM_ID"),
            ("matrixs://t@chat.test/#alias", "it must have the form matrixs://ACCESS_TOKEN@HOST/!ROOM_ID"),
            ("pover://token", "it must have the form pover://USER_KEY@TOKEN"),
            ("ntfys://a b/tea", "it must have the form ntfy://TOPIC or ntfys://[TOKEN@]HOST/TOPIC"),
        ] {
            assert_eq!(Channel::parse(text).unwrap_err().to_string(), expected, "{text}");
        }
        for text in ["", "tea", "mailto://anna@tea.test", "file:///etc/passwd"] {
            assert_eq!(Channel::parse(text), Err(InvalidChannel::Scheme), "{text}");
        }
    }
}
