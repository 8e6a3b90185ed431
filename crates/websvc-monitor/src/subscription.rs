//! The recipients of the emails of a monitor, and the links by which they confirm and unsubscribe.
//!
//! The token of a link is a keyed hash of the identifier of the recipient, so that all emails have the same links although
//! the store has only the hash of the token.

use url::Url;
use uuid::Uuid;
use websvc_notify::{EmailAddress, Token};
use websvc_store::{
    LinkAction, MonitorRecord, NewRecipient, RecipientRecord, RecipientSource, RecipientStatus, StoreError,
};
use websvc_tasks::TaskError;
use websvc_types::monitor::{EmailSubscription, EmailSubscriptionSource, EmailSubscriptionStatus};
use websvc_validate::MonitorDefinition;

use crate::monitors::{Inner, Monitors};
use crate::notification::enabled_email;
use crate::stored::StoredDefinition;
use crate::token::keyed_token;

/// The recipient of a link in an email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkRecipient {
    /// The address.
    pub email: String,
    /// Name of the monitor.
    pub monitor_name: String,
}

impl Monitors {
    /// Returns the subscriptions of the recipients that a monitor names, in its order.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn subscriptions(&self, record: &MonitorRecord) -> Result<Vec<EmailSubscription>, TaskError> {
        let Some(stored) = StoredDefinition::decode(&record.definition) else { return Ok(Vec::new()) };
        let addresses = all_addresses(&stored.definition).to_vec();
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let number = record.number;
        let recipients = self.with_store(move |store, _| store.recipients(number)).await?;
        Ok(addresses.into_iter().map(|address| subscription(address, &recipients)).collect())
    }

    /// Returns the recipient of a link, and changes nothing. `None` if there is no such link.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn link_recipient(
        &self,
        action: LinkAction,
        token: &str,
    ) -> Result<Option<LinkRecipient>, TaskError> {
        let Ok(token) = Token::parse(token) else { return Ok(None) };
        let hash = *token.hash().as_bytes();
        let found = self.with_store(move |store, _| store.recipient_by_link(action, &hash)).await?;
        Ok(found.map(link_recipient))
    }

    /// Follows a link: confirms or unsubscribes its recipient. `None` if there is no such link.
    ///
    /// # Errors
    /// [`TaskError`]
    pub async fn follow_link(
        &self,
        action: LinkAction,
        token: &str,
    ) -> Result<Option<LinkRecipient>, TaskError> {
        let Ok(token) = Token::parse(token) else { return Ok(None) };
        let (hash, now_ms) = (*token.hash().as_bytes(), self.inner.store.now_ms());
        let found = self.with_store(move |store, _| store.follow_link(action, &hash, now_ms)).await?;
        Ok(found.map(link_recipient))
    }
}

/// Returns the recipients of a monitor that is stored; `None` while its emails are off. Blocks.
pub(crate) fn stored_recipients(
    inner: &Inner,
    definition: &MonitorDefinition,
) -> Result<Option<Vec<NewRecipient>>, StoreError> {
    enabled_email(definition).map(|_| new_recipients(inner, definition)).transpose()
}

/// Returns the recipients that a monitor names, with new identifiers. Blocks.
fn new_recipients(inner: &Inner, definition: &MonitorDefinition) -> Result<Vec<NewRecipient>, StoreError> {
    let addresses = addresses(definition);
    if addresses.is_empty() {
        return Ok(Vec::new());
    }
    let secret = inner.store.link_secret()?;
    let recipients = addresses.iter().map(|address| {
        let id = Uuid::new_v4().to_string();
        let hash = |action| *token(&secret, action, &id).hash().as_bytes();
        NewRecipient {
            confirm_hash: hash(LinkAction::Confirm),
            unsubscribe_hash: hash(LinkAction::Unsubscribe),
            address: address.as_str().to_owned(),
            id,
        }
    });
    Ok(recipients.collect())
}

/// Returns the addresses to which a monitor sends emails; none while they are off.
pub(crate) fn addresses(definition: &MonitorDefinition) -> Vec<EmailAddress> {
    let email = enabled_email(definition);
    let texts = email.and_then(|email| email.recipients.as_deref()).unwrap_or_default();
    // All are valid: requests are checked by the same rules.
    texts.iter().filter_map(|text| EmailAddress::parse(text).ok()).collect()
}

/// Returns the URL of a link for a recipient.
pub(crate) fn link_url(
    public_url: &Url,
    secret: &[u8; 32],
    action: LinkAction,
    recipient: &RecipientRecord,
) -> Result<Url, url::ParseError> {
    let name = match action {
        LinkAction::Confirm => "confirm",
        LinkAction::Unsubscribe => "unsubscribe",
    };
    let token = token(secret, action, &recipient.id);
    let base = public_url.as_str().trim_end_matches('/');
    Url::parse(&format!("{base}/v2/monitor/email/{name}?token={}", token.expose()))
}

fn token(secret: &[u8; 32], action: LinkAction, id: &str) -> Token {
    let purpose = match action {
        LinkAction::Confirm => "confirm",
        LinkAction::Unsubscribe => "unsubscribe",
    };
    let text = keyed_token(secret, &format!("{purpose} recipient {id}"));
    Token::parse(&text).expect("a keyed token has the length of a token")
}

fn all_addresses(definition: &MonitorDefinition) -> &[String] {
    let email = definition.notification.as_ref().and_then(|notification| notification.email.as_ref());
    email.and_then(|email| email.recipients.as_deref()).unwrap_or_default()
}

/// Returns the subscription of an address. While emails are off, a new address has no stored one.
fn subscription(email: String, stored: &[RecipientRecord]) -> EmailSubscription {
    let Some(recipient) = stored.iter().find(|recipient| recipient.address == email) else {
        return EmailSubscription {
            email,
            status: EmailSubscriptionStatus::Pending,
            source: EmailSubscriptionSource::OptIn,
            confirmation_email_sent: false,
        };
    };
    EmailSubscription {
        email,
        status: match recipient.status {
            RecipientStatus::Pending => EmailSubscriptionStatus::Pending,
            RecipientStatus::Confirmed => EmailSubscriptionStatus::Confirmed,
            RecipientStatus::Unsubscribed => EmailSubscriptionStatus::Unsubscribed,
        },
        source: match recipient.source {
            RecipientSource::Team => EmailSubscriptionSource::Team,
            RecipientSource::OptIn => EmailSubscriptionSource::OptIn,
            RecipientSource::Legacy => EmailSubscriptionSource::Legacy,
        },
        confirmation_email_sent: recipient.is_confirmation_sent,
    }
}

fn link_recipient((recipient, monitor): (RecipientRecord, MonitorRecord)) -> LinkRecipient {
    let stored = StoredDefinition::decode(&monitor.definition);
    let monitor_name = stored.map(|stored| stored.definition.name.clone()).unwrap_or_default();
    LinkRecipient { email: recipient.address, monitor_name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipient(id: &str) -> RecipientRecord {
        RecipientRecord {
            number: 1,
            id: id.to_owned(),
            monitor: 1,
            address: "anna@tea.test".to_owned(),
            status: RecipientStatus::Pending,
            source: RecipientSource::OptIn,
            is_confirmation_sent: false,
        }
    }

    #[test]
    fn link_differs_by_action_recipient_and_secret() {
        let base: Url = "https://websvc.test/api/".parse().unwrap();
        let link = |secret: u8, action, id| {
            link_url(&base, &[secret; 32], action, &recipient(id)).unwrap().to_string()
        };
        let confirm = link(1, LinkAction::Confirm, "a");
        assert!(confirm.starts_with("https://websvc.test/api/v2/monitor/email/confirm?token="), "{confirm}");
        assert_eq!(confirm, link(1, LinkAction::Confirm, "a"));
        let token = |url: &str| url.split_once("token=").unwrap().1.to_owned();
        for other in [
            link(1, LinkAction::Unsubscribe, "a"),
            link(1, LinkAction::Confirm, "b"),
            link(2, LinkAction::Confirm, "a"),
        ] {
            assert_ne!(token(&other), token(&confirm));
        }
    }

    #[test]
    fn address_without_a_row_is_pending() {
        let found = subscription("b@tea.test".to_owned(), &[recipient("a")]);
        assert_eq!((found.status, found.confirmation_email_sent), (EmailSubscriptionStatus::Pending, false));
    }
}
