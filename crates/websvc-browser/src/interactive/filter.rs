//! The filter of the DevTools protocol for clients of a session: commands that are not in its table are refused.
//!
//! The table has what a client needs to drive the pages of its session. It leaves out what reaches beyond them: the files
//! and the system of this machine, other browser contexts, the protocol without this filter, and the end of the browser.

mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use self::table::{COMMANDS, RULES};
use crate::document_url::DocumentUrl;
use crate::members::Members;

/// The command that shows a client the events of downloads, and has no other effect: clients send it when they connect, and
/// fail if it is refused.
const SHOW_DOWNLOADS: &str = "Browser.setDownloadBehavior";

/// The commands that are answered without an effect: clients fail if they are refused, and the session decides about
/// downloads.
const NO_EFFECT: &[&str] = &["Page.setDownloadBehavior"];

/// The maximum number of characters of a client in an error.
const MAX_SHOWN: usize = 100;

/// The parameters of a new tab. Others have effects beyond it.
const NEW_TAB: &[&str] = &[
    "url",
    "width",
    "height",
    "left",
    "top",
    "windowState",
    "newWindow",
    "background",
    "focus",
    "browserContextId",
];

/// A rule for the parameters of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// `browserContextId` is that of the session, which is also the default.
    OwnContext,
    /// `url` has a scheme of the web.
    WebUrl,
    /// `data` contains no files.
    NoFiles,
    /// `handle` is a stream that the client has opened.
    OwnStream,
    /// `sessionId` is one of the client.
    OwnSession,
    /// `targetId` is a target that the client sees, which the caller of [`check`] decides.
    OwnTarget,
    /// The same, and `flatten` is true: other messages would not pass the filter.
    FlatTarget,
    /// `flatten` is true, unless `autoAttach` is false, which attaches to nothing.
    FlatOrOff,
    /// The tab is one of the session, with a URL of the web.
    NewTab,
}

/// The objects of one client that its commands may name.
pub(super) trait Ownership {
    /// Returns the browser context of the session.
    fn context(&self) -> &str;
    /// Returns whether the client is attached by this session of the protocol.
    fn owns_session(&self, session: &str) -> bool;
    /// Returns whether the client has opened this stream.
    fn owns_stream(&self, handle: &str) -> bool;
}

/// The handling of a command. Parameters are JSON text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict<'a> {
    /// It is sent on, with these parameters.
    Forward(Cow<'a, str>),
    /// It is sent on with these parameters if the client sees this target.
    ForwardIfVisible { target: String, params: Cow<'a, str> },
    /// It is answered without being sent on.
    Answer(Value),
    /// It is answered without being sent on, and decides whether the client sees the events of downloads.
    ShowDownloads(bool),
    /// It is refused, for this reason.
    Refuse(String),
}

/// Decides on a command of a client, given the JSON text of its parameters. They are parsed only as far as a rule needs it.
pub(super) fn check<'a>(method: &str, params: Option<&'a str>, owner: &dyn Ownership) -> Verdict<'a> {
    if NO_EFFECT.contains(&method) {
        return Verdict::Answer(json!({}));
    }
    if !is_listed(method) {
        let (method, hint) = (shorten(method), hint(method));
        return Verdict::Refuse(format!("{method} is not available in a browser session{hint}"));
    }
    let refused =
        |reason: String| Verdict::Refuse(format!("{method} is refused in a browser session: {reason}"));
    let params = params.unwrap_or("{}");
    let Some((_, rule)) = RULES.iter().find(|(name, _)| *name == method) else {
        if params.starts_with('{') {
            return Verdict::Forward(params.into());
        }
        return refused("params is not an object".to_owned());
    };
    let mut members = match Members::parse(params) {
        Ok(members) => members,
        Err(error) => return refused(format!("params {error}")),
    };
    if let Err(reason) = apply(*rule, &mut members, owner) {
        return refused(reason);
    }
    if method == SHOW_DOWNLOADS {
        return Verdict::ShowDownloads(members.get("eventsEnabled") == Some("true"));
    }
    let params = members.to_text().into();
    let names_target = matches!(rule, Rule::OwnTarget | Rule::FlatTarget);
    match members.read("targetId").filter(|_| names_target) {
        Some(target) => Verdict::ForwardIfVisible { target, params },
        // Without one, it is the target that gets the command.
        None => Verdict::Forward(params),
    }
}

fn is_listed(method: &str) -> bool {
    let Some((domain, command)) = method.split_once('.') else { return false };
    COMMANDS.iter().any(|(name, commands)| {
        *name == domain && commands.split_ascii_whitespace().any(|listed| listed == command)
    })
}

/// Returns the way that clients should take in place of a command.
fn hint(method: &str) -> &'static str {
    match method {
        "Target.createBrowserContext" => ": it has one browser context, use the default one",
        "Browser.close" | "Browser.crash" => ": delete the session with DELETE /v2/browser/{id}",
        "DOM.setFileInputFiles" => ": its files would be files of the server",
        _ => "",
    }
}

fn apply(rule: Rule, params: &mut Members<'_>, owner: &dyn Ownership) -> Result<(), String> {
    match rule {
        Rule::OwnContext => use_own_context(params, owner),
        Rule::WebUrl => check_url(params),
        Rule::NoFiles => check_no_files(params),
        Rule::OwnStream => match params.read::<String>("handle").unwrap_or_default() {
            handle if owner.owns_stream(&handle) => Ok(()),
            handle => Err(format!("the session has not opened the stream {:?}", shorten(&handle))),
        },
        Rule::OwnSession => match params.read::<String>("sessionId").unwrap_or_default() {
            session if owner.owns_session(&session) => Ok(()),
            session => Err(format!("there is no session {:?}", shorten(&session))),
        },
        Rule::OwnTarget => check_target(params),
        Rule::FlatTarget => {
            check_flat(params)?;
            check_target(params)
        }
        Rule::FlatOrOff if params.get("autoAttach") == Some("false") => Ok(()),
        Rule::FlatOrOff => check_flat(params),
        Rule::NewTab => {
            if let Some(name) = params.names().find(|name| !NEW_TAB.contains(name)) {
                return Err(format!("the parameter {} is not available", shorten(name)));
            }
            check_url(params)?;
            use_own_context(params, owner)
        }
    }
}

/// Returns the beginning of a text of a client, for an error.
pub(super) fn shorten(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

fn check_flat(params: &Members<'_>) -> Result<(), String> {
    if params.get("flatten") == Some("true") { Ok(()) } else { Err("flatten must be true".to_owned()) }
}

fn check_target(params: &Members<'_>) -> Result<(), String> {
    match params.get("targetId") {
        Some(_) if params.read::<String>("targetId").is_none() => Err("targetId must be a string".to_owned()),
        _ => Ok(()),
    }
}

/// Checks that no files are dragged.
fn check_no_files(params: &Members<'_>) -> Result<(), String> {
    let Some(data) = params.get("data") else { return Ok(()) };
    let data = Members::parse(data).map_err(|error| format!("data {error}"))?;
    match data.get("files") {
        Some(_) if data.read::<Vec<IgnoredAny>>("files").is_none_or(|files| !files.is_empty()) => {
            Err("its files would be files of the server".to_owned())
        }
        _ => Ok(()),
    }
}

/// Checks that a command names no other browser context, and adds that of the session.
fn use_own_context(params: &mut Members<'_>, owner: &dyn Ownership) -> Result<(), String> {
    if let Some(other) = params.get("browserContextId")
        && params.read::<String>("browserContextId").is_none_or(|context| context != owner.context())
    {
        return Err(format!("there is no browser context {}", shorten(other)));
    }
    params.set("browserContextId", owner.context());
    Ok(())
}

/// Checks the scheme of a URL. Pages of the web cannot open others either.
fn check_url(params: &Members<'_>) -> Result<(), String> {
    if params.get("url").is_none() {
        return Ok(());
    }
    let url: String = params.read("url").ok_or("url must be a string")?;
    match DocumentUrl::from_url(&url) {
        DocumentUrl::Unknown | DocumentUrl::Web => Ok(()),
        DocumentUrl::Error | DocumentUrl::Server | DocumentUrl::Other => match url.trim().split_once(':') {
            Some((scheme, _)) => Err(format!("URLs with the scheme {} cannot be opened", shorten(scheme))),
            None => Err(format!("{:?} is not an absolute URL", shorten(&url))),
        },
    }
}
