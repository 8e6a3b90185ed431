//! Browser sessions: browsers that clients control, with or without a scrape (operations.md, sections 1 and 2).

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

#[cfg(feature = "schemars")]
use crate::absent::absent_not_null;
use crate::limits::{
    INTERACT_ACTIVITY_TTL_DEFAULT_S, INTERACT_ACTIVITY_TTL_MAX_S, INTERACT_ACTIVITY_TTL_MIN_S,
    INTERACT_CODE_MAX_CHARS, INTERACT_CODE_MIN_CHARS, INTERACT_PROMPT_MAX_CHARS, INTERACT_PROMPT_MIN_CHARS,
    INTERACT_TIMEOUT_DEFAULT_S, INTERACT_TIMEOUT_MAX_S, INTERACT_TIMEOUT_MIN_S, INTERACT_TTL_DEFAULT_S,
    INTERACT_TTL_MAX_S, INTERACT_TTL_MIN_S,
};
use crate::{Location, Profile};

/// Language of code that runs in a browser session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InteractLanguage {
    /// JavaScript with Playwright's `page`.
    #[default]
    Node,
    /// Python with Playwright's `page`.
    Python,
    /// Lines of `agent-browser` commands.
    Bash,
}

impl InteractLanguage {
    /// Returns the name of the language.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python",
            Self::Bash => "bash",
        }
    }
}

/// Request of `POST /v2/scrape/{id}/interact`: runs code, or a prompt, in the page of a scrape.
///
/// # Examples
///
/// ```
/// use websvc_types::interact::InteractRequest;
///
/// let request = InteractRequest { code: Some("await page.title()".to_owned()), ..InteractRequest::default() };
/// assert_eq!(serde_json::from_str::<InteractRequest>(r#"{"code": "await page.title()"}"#)?, request);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct InteractRequest {
    /// Code to run, 1 to 100000 characters. Required unless `prompt` is given, and used instead of it.
    #[cfg_attr(feature = "schemars", schemars(length(min = INTERACT_CODE_MIN_CHARS, max = INTERACT_CODE_MAX_CHARS)))]
    pub code: Option<String>,
    /// Task for a language model in plain words, 1 to 10000 characters. The model acts on the page in at most 25 steps.
    #[cfg_attr(feature = "schemars", schemars(length(min = INTERACT_PROMPT_MIN_CHARS, max = INTERACT_PROMPT_MAX_CHARS)))]
    pub prompt: Option<String>,
    /// Language of `code`. Default: node.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "node")))]
    pub language: Option<InteractLanguage>,
    /// Maximum duration of the run in seconds, 1 to 300; fractions are allowed. The first request of a session also opens
    /// the page, which does not count. Default: 30 for code, and 280 for a prompt with all its steps.
    #[cfg_attr(feature = "schemars", schemars(
        range(min = INTERACT_TIMEOUT_MIN_S, max = INTERACT_TIMEOUT_MAX_S),
        extend("default" = INTERACT_TIMEOUT_DEFAULT_S)
    ))]
    pub timeout: Option<f64>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Request of `POST /v2/browser`: starts a browser session. The body may be empty.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CreateBrowserRequest {
    /// Time to live in seconds, 30 to 3600. Default: 600.
    #[cfg_attr(feature = "schemars", schemars(range(min = INTERACT_TTL_MIN_S, max = INTERACT_TTL_MAX_S), extend("default" = INTERACT_TTL_DEFAULT_S)))]
    pub ttl: Option<u32>,
    /// Time in seconds after which an unused session ends, 10 to 3600. Default: 300.
    #[cfg_attr(feature = "schemars", schemars(
        range(min = INTERACT_ACTIVITY_TTL_MIN_S, max = INTERACT_ACTIVITY_TTL_MAX_S),
        extend("default" = INTERACT_ACTIVITY_TTL_DEFAULT_S)
    ))]
    pub activity_ttl: Option<u32>,
    /// Shown in the list of sessions only. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub stream_web_view: Option<bool>,
    /// Accepted for compatibility: sessions are not recorded. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub record_session: Option<bool>,
    /// Persistent browser storage, saved at the end of the session. Default: none.
    pub profile: Option<Profile>,
    /// True blocks advertising and trackers. Default: true.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = true)))]
    pub block_ads: Option<bool>,
    /// Location of the browser: selects a proxy if there is one, and emulates language and time zone.
    pub location: Option<Location>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Request of `POST /v2/browser/{id}/execute`: runs code in a browser session.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExecuteRequest {
    /// Code to run, 1 to 100000 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = INTERACT_CODE_MIN_CHARS, max = INTERACT_CODE_MAX_CHARS)))]
    pub code: String,
    /// Language of `code`. Default: node.
    #[cfg_attr(feature = "schemars", schemars(extend("default" = "node")))]
    pub language: Option<InteractLanguage>,
    /// Maximum duration of the run in seconds, 1 to 300; fractions are allowed. Default: 30.
    #[cfg_attr(feature = "schemars", schemars(
        range(min = INTERACT_TIMEOUT_MIN_S, max = INTERACT_TIMEOUT_MAX_S),
        extend("default" = INTERACT_TIMEOUT_DEFAULT_S)
    ))]
    pub timeout: Option<f64>,
    /// Name of the client. Accepted for compatibility and not used.
    pub origin: Option<String>,
    /// Name of the integration. Accepted for compatibility and not used.
    pub integration: Option<String>,
}

/// Response of `POST /v2/browser`: a started session.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateBrowserResponse {
    /// Always true.
    pub success: bool,
    /// ID of the session.
    pub id: String,
    /// WebSocket URL of the DevTools protocol, for Playwright and Puppeteer. It contains a token that gives control of the browser.
    pub cdp_url: String,
    /// URL of a page that shows the session, for people.
    pub live_view_url: String,
    /// URL of the same page with mouse and keyboard.
    pub interactive_live_view_url: String,
    /// End of the time to live, ISO 8601.
    pub expires_at: String,
    /// Problems that did not fail the request, such as unknown fields.
    #[cfg_attr(feature = "schemars", schemars(with = "String"))]
    pub warning: Option<String>,
}

/// Response of `POST /v2/scrape/{id}/interact`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct InteractResponse {
    /// False if the code or the prompt failed or was stopped.
    pub success: bool,
    /// ID of the session.
    pub session_id: String,
    /// WebSocket URL of the DevTools protocol.
    pub cdp_url: String,
    /// URL of a page that shows the session, for people.
    pub live_view_url: String,
    /// URL of the same page with mouse and keyboard.
    pub interactive_live_view_url: String,
    /// Answer to the prompt, or what was found out before it failed or was stopped. Absent for code, and without an answer.
    pub output: Option<String>,
    /// Text that the code has printed; the steps of a prompt, one per line.
    pub stdout: String,
    /// Text that the code has printed as errors; the reason why a prompt failed.
    pub stderr: String,
    /// Value of the last expression as text: JSON unless it is a string. Without one, what was printed. For a prompt, the
    /// last outline of the page.
    pub result: Option<String>,
    /// 0 for success, 124 if the time limit was reached, otherwise another number.
    pub exit_code: i32,
    /// True if the time limit stopped the code or the prompt.
    pub killed: bool,
    /// True if an output was cut at 1 MiB. Absent otherwise.
    pub truncated: Option<bool>,
    /// Reason of the failure. Only if the code failed.
    pub error: Option<String>,
    /// Problems that did not fail the request, such as unknown fields.
    pub warning: Option<String>,
}

/// Response of `POST /v2/browser/{id}/execute`. The request succeeds even if the code fails: see `exitCode` and `error`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schemars", schemars(transform = absent_not_null))]
pub struct ExecuteResponse {
    /// Always true.
    pub success: bool,
    /// Text that the code has printed.
    pub stdout: String,
    /// Text that the code has printed as errors.
    pub stderr: String,
    /// Value of the last expression as text: JSON unless it is a string. Without one, what was printed.
    pub result: Option<String>,
    /// 0 for success, 124 if the time limit was reached, otherwise another number.
    pub exit_code: i32,
    /// True if the time limit stopped the code.
    pub killed: bool,
    /// True if an output was cut at 1 MiB. Absent otherwise.
    pub truncated: Option<bool>,
    /// Reason of the failure. Only if the code failed.
    pub error: Option<String>,
    /// Problems that did not fail the request, such as unknown fields.
    pub warning: Option<String>,
}

/// Response of `DELETE /v2/browser/{id}` and `DELETE /v2/scrape/{id}/interact`.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EndBrowserResponse {
    /// Always true.
    pub success: bool,
    /// Duration of the session in milliseconds.
    pub session_duration_ms: u64,
    /// Credits for the session. Absent if the session had ended before.
    #[cfg_attr(feature = "schemars", schemars(with = "u64"))]
    pub credits_billed: Option<u64>,
}

/// Status of a browser session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum BrowserSessionStatus {
    /// Its browser runs.
    Active,
    /// It has ended.
    Destroyed,
}

/// Browser session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BrowserSession {
    /// ID of the session.
    pub id: String,
    /// Status of the session.
    pub status: BrowserSessionStatus,
    /// WebSocket URL of the DevTools protocol; empty if the session has ended or runs in another process of the service.
    pub cdp_url: String,
    /// URL of the page that shows the session; empty as `cdpUrl`.
    pub live_view_url: String,
    /// URL of the same page with mouse and keyboard; empty as `cdpUrl`.
    pub interactive_live_view_url: String,
    /// The value of the request.
    pub stream_web_view: bool,
    /// Time of the creation, ISO 8601.
    pub created_at: String,
    /// Time of the last use by the client, ISO 8601.
    pub last_activity: String,
}

/// Response of `GET /v2/browser`: at most 100 sessions of the team, the newest first. Ended ones are listed for a day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct BrowserListResponse {
    /// Always true.
    pub success: bool,
    /// The sessions.
    pub sessions: Vec<BrowserSession>,
}
