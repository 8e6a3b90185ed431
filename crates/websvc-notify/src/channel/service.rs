//! The bodies of messages in the forms of the services, within their limits.

use serde_json::{Map, Value, json};
use websvc_validate::Channel;

use super::Parts;
use crate::digest::{DiffLineKind, PageDigest};
use crate::text::clean_line;
use crate::wording::page_status;

/// Limits of texts in bytes. Those of Telegram and Pushover count characters, of which there are at most as many.
const NTFY_TEXT_BYTES: usize = 3_800;
const TELEGRAM_TEXT_BYTES: usize = 4_000;
const PUSHOVER_TEXT_BYTES: usize = 1_024;
const PUSHOVER_TITLE_CHARS: usize = 250;
const PUSHOVER_URL_BYTES: usize = 512;
const TEAMS_TEXT_BYTES: usize = 8_000;
const LONG_TEXT_BYTES: usize = 30_000;

/// Limits of Discord: embeds of a message, characters of a title, and characters of all embeds.
const DISCORD_EMBEDS: usize = 10;
const DISCORD_TITLE_CHARS: usize = 200;
const DISCORD_EMBEDS_BYTES: usize = 5_500;

/// Maximum of lines of a message in Teams, each with markup of its own, so that a card has less than 28 KB.
const TEAMS_LINES: usize = 80;
/// Maximum of links to pages below a message in Teams.
const TEAMS_LINKS: usize = 5;

pub(super) fn ntfy(channel: &Channel, parts: &Parts<'_>) -> Value {
    let mut body = json!({
        "topic": channel.receiver,
        "title": parts.title,
        "message": parts.text(NTFY_TEXT_BYTES),
    });
    if let Some(link) = &parts.link {
        body["click"] = json!(link);
    }
    if parts.has_errors() {
        body["tags"] = json!(["warning"]);
    }
    body
}

pub(super) fn gotify(parts: &Parts<'_>) -> Value {
    let mut body = json!({"title": parts.title, "message": parts.text(LONG_TEXT_BYTES), "priority": 5});
    if let Some(link) = &parts.link {
        body["extras"] = json!({"client::notification": {"click": {"url": link}}});
    }
    body
}

/// Each page is an embed, whose title is a link and whose diff is in color.
pub(super) fn discord(parts: &Parts<'_>) -> Value {
    let mut left = DISCORD_EMBEDS_BYTES;
    let mut embeds = Vec::new();
    for page in parts.digest.pages.iter().take(DISCORD_EMBEDS) {
        let name = page.title.as_deref().unwrap_or(&page.url);
        let title = format!("{}: {}", page_status(page.status), escape_markdown(name));
        let title = clean_line(&title, DISCORD_TITLE_CHARS);
        left = left.saturating_sub(title.len());
        if left == 0 {
            break;
        }
        let description = discord_description(page, left);
        left -= description.len();
        let mut embed = json!({"title": title, "description": description});
        if let Some(link) = &page.link {
            embed["url"] = json!(link);
        }
        embeds.push(embed);
    }
    json!({
        "content": escape_markdown(&parts.title),
        "embeds": embeds,
        "allowed_mentions": {"parse": []},
    })
}

/// Returns error, judgment and differences of a page as code, within `max_bytes`.
fn discord_description(page: &PageDigest, max_bytes: usize) -> String {
    const OPENING: &str = "```diff\n";
    const CLOSING: &str = "```";
    let verdict = page.judgment.as_ref().map(|judgment| format!("  {}", judgment.verdict()));
    let error = page.error.as_ref().map(|error| format!("  Error: {error}"));
    let difference = page.difference.iter().flat_map(|difference| {
        let fields = difference.fields.iter();
        let fields = fields.map(|field| format!("  {}: {} → {}", field.path, field.previous, field.current));
        let lines = difference.lines.iter().filter(|line| line.kind != DiffLineKind::Hunk);
        fields.chain(lines.map(|line| line.text.clone()))
    });
    let mut code = String::from(OPENING);
    for line in error.into_iter().chain(verdict).chain(difference) {
        let line = line.replace('`', "\u{2cb}");
        if code.len() + line.len() + CLOSING.len() + 1 > max_bytes {
            break;
        }
        code.push_str(&line);
        code.push('\n');
    }
    if code == OPENING { String::new() } else { code + CLOSING }
}

/// Escapes the characters that begin markup in Discord.
fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(
            character,
            '\\' | '*' | '_' | '~' | '`' | '|' | '>' | '<' | '[' | ']' | '(' | ')' | '#' | '@'
        ) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

pub(super) fn telegram(channel: &Channel, parts: &Parts<'_>) -> Value {
    let text =
        format!("{}\n\n{}", parts.title, parts.text(TELEGRAM_TEXT_BYTES - parts.title.len().min(1_000) - 2));
    json!({"chat_id": channel.receiver, "text": text, "link_preview_options": {"is_disabled": true}})
}

/// An Adaptive Card of texts without markup.
pub(super) fn teams(parts: &Parts<'_>) -> Value {
    let text = |text: &str, weight: &str| json!({"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, "weight": weight}]});
    let mut content = vec![text(&parts.title, "Bolder")];
    let all_lines = parts.text(TEAMS_TEXT_BYTES);
    let mut lines = all_lines.lines().filter(|line| !line.is_empty());
    content.extend(lines.by_ref().take(TEAMS_LINES).map(|line| text(line, "Default")));
    content.extend(lines.next().map(|_| text("…", "Default")));
    let links = parts.digest.pages.iter().filter_map(|page| {
        let link = page.link.as_deref()?;
        Some((page.title.as_deref().unwrap_or(&page.url), link))
    });
    let all = parts.report.dashboard_url.as_ref().map(|url| ("All details", url.as_str()));
    let actions: Vec<Value> = all
        .into_iter()
        .chain(links)
        .take(TEAMS_LINKS)
        .map(|(title, url)| json!({"type": "Action.OpenUrl", "title": title, "url": url}))
        .collect();
    json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "content": {
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                "type": "AdaptiveCard",
                "version": "1.2",
                "body": content,
                "actions": actions,
            },
        }],
    })
}

pub(super) fn matrix(parts: &Parts<'_>) -> Value {
    json!({"msgtype": "m.text", "body": format!("{}\n\n{}", parts.title, parts.text(LONG_TEXT_BYTES))})
}

pub(super) fn pushover(channel: &Channel, parts: &Parts<'_>) -> Value {
    let mut body = json!({
        "token": channel.token,
        "user": channel.receiver,
        "title": clean_line(&parts.title, PUSHOVER_TITLE_CHARS),
        "message": parts.text(PUSHOVER_TEXT_BYTES),
    });
    if let Some(link) = parts.link.as_ref().filter(|link| link.len() <= PUSHOVER_URL_BYTES) {
        body["url"] = json!(link);
    }
    body
}

/// The fields that Apprise sends to a receiver of JSON.
pub(super) fn json(parts: &Parts<'_>) -> Value {
    let kind = if parts.has_errors() { "warning" } else { "info" };
    let fields = [
        ("version", json!("1.0")),
        ("title", json!(parts.title)),
        ("message", json!(parts.text(LONG_TEXT_BYTES))),
        ("type", json!(kind)),
    ];
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}
