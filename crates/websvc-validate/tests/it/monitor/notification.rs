//! Notifications of people: emails, Slack and channels.

use serde_json::{Value, json};
use websvc_types::ViolationCode::{
    Conflict, InvalidFormat, InvalidType, Missing, NotSupported, TooLong, TooShort, UnknownValue,
};

use super::create::reject;
use super::{accepted, body};

#[test]
fn notifications_are_checked_and_get_defaults() {
    let notification = |notification: Value| {
        let definition = accepted(&body(&json!({ "notification": notification })));
        serde_json::to_value(definition.notification.as_ref()).unwrap()
    };
    assert_eq!(notification(json!({})), json!({}));
    // The official Python client sends an empty list of recipients if there are none.
    assert_eq!(
        notification(json!({ "email": { "enabled": true, "recipients": [] } })),
        json!({ "email": { "enabled": true, "recipients": [], "includeDiffs": false } })
    );
    assert_eq!(
        notification(
            json!({ "email": { "recipients": ["Anna@TEA.test", "Anna@tea.test"], "includeDiffs": true } })
        ),
        json!({ "email": { "enabled": false, "recipients": ["Anna@tea.test"], "includeDiffs": true } })
    );
    assert_eq!(
        notification(json!({ "slack": { "enabled": true, "channelId": "C1", "channelName": "tea" } })),
        json!({ "slack": { "enabled": true, "channelId": "C1", "channelName": "tea" } })
    );
    notification(json!({ "slack": { "enabled": true, "webhookUrl": "https://hooks.test/" } }));
    assert_eq!(
        notification(
            json!({ "channels": [{ "url": " ntfy://tea ", "statuses": ["new", "changed", "new"] }] })
        ),
        json!({ "channels": [{ "url": "ntfy://tea", "statuses": ["changed", "new"] }] })
    );
    let template = json!({ "text": "{{title}} {{ changed }} {{", "at": [1, { "link": "{{url}}" }] });
    notification(json!({ "channels": [{ "url": "https://hooks.test/", "template": template }] }));
    let addresses = |count: usize| (0..count).map(|index| format!("a{index}@tea.test")).collect::<Vec<_>>();
    notification(json!({ "email": { "recipients": addresses(25) } }));
    for (notification, path, code) in [
        (json!({ "email": { "recipients": addresses(26) } }), "/email/recipients", TooLong),
        (json!({ "email": { "recipients": ["a@tea.test", "anna"] } }), "/email/recipients/1", InvalidFormat),
        (json!({ "email": { "recipients": "a@tea.test" } }), "/email/recipients", InvalidType),
        (json!({ "slack": { "enabled": true } }), "/slack/channelId", Missing),
        (json!({ "slack": { "channelId": "c".repeat(65) } }), "/slack/channelId", TooLong),
        (json!({ "slack": { "channelName": "c".repeat(129) } }), "/slack/channelName", TooLong),
        (json!({ "slack": { "webhookUrl": "hooks" } }), "/slack/webhookUrl", InvalidFormat),
        (json!({ "slack": { "webhookUrl": "" } }), "/slack/webhookUrl", TooShort),
        (json!({ "email": { "statuses": ["changed", "same"] } }), "/email/statuses/1", UnknownValue),
        (json!({ "slack": { "statuses": [] } }), "/slack/statuses", TooShort),
        (json!({ "channels": [{ "url": "mailto://anna@tea.test" }] }), "/channels/0/url", InvalidFormat),
        (json!({ "channels": [{ "url": "gotify://push.test" }] }), "/channels/0/url", InvalidFormat),
        (json!({ "channels": [{ "url": " " }] }), "/channels/0/url", TooShort),
        (json!({ "channels": [{ "url": "ntfy://a" }, { "url": " ntfy://a" }] }), "/channels/1/url", Conflict),
        (
            json!({ "channels": [{ "url": "ntfy://a", "statuses": ["same"] }] }),
            "/channels/0/statuses/0",
            UnknownValue,
        ),
        (
            json!({ "channels": [{ "url": "ntfy://a", "template": {} }] }),
            "/channels/0/template",
            NotSupported,
        ),
        (
            json!({ "channels": [{ "url": "json://a.test", "template": { "a": ["{{ titel }}"] } }] }),
            "/channels/0/template/a/0",
            UnknownValue,
        ),
        (
            json!({ "channels": [{ "url": "json://a.test", "template": { "a": "a".repeat(16 * 1024) } }] }),
            "/channels/0/template",
            TooLong,
        ),
        (json!({ "channels": vec![json!({ "url": "ntfy://a" }); 11] }), "/channels", TooLong),
    ] {
        reject(&json!({ "notification": notification }), &[(&format!("/notification{path}"), code)]);
    }
}
