//! Types of the recipients of emails, and of messages to people.

use crate::sql::names;

/// Time for which confirmation emails count, in milliseconds: the longest window of their limits.
pub(super) const CONFIRMATION_RETENTION_MS: u64 = 30 * DAY_MS;
pub(super) const DAY_MS: u64 = 86_400_000;

/// The state of a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecipientStatus {
    /// The owner of the address has not confirmed it.
    Pending,
    /// The address gets emails.
    Confirmed,
    /// The owner of the address does not want emails.
    Unsubscribed,
}

names!(RecipientStatus: Pending = "pending", Confirmed = "confirmed", Unsubscribed = "unsubscribed");

/// The reason why an address is a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecipientSource {
    /// It belongs to a member of the team.
    Team,
    /// It is named by the monitor.
    OptIn,
    /// It was a recipient before addresses had to be confirmed.
    Legacy,
}

names!(RecipientSource: Team = "team", OptIn = "opt_in", Legacy = "legacy");

/// A recipient to be added to a monitor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecipient {
    /// Random identifier, unique among all recipients.
    pub id: String,
    /// The address.
    pub address: String,
    /// SHA-256 of the token that confirms the address.
    pub confirm_hash: [u8; 32],
    /// SHA-256 of the token that ends the emails.
    pub unsubscribe_hash: [u8; 32],
}

/// A stored recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientRecord {
    /// Number in the store.
    pub number: i64,
    /// Random identifier, of which the tokens are made.
    pub id: String,
    /// Number of the monitor.
    pub monitor: i64,
    /// The address.
    pub address: String,
    /// State of the recipient.
    pub status: RecipientStatus,
    /// The reason why the address is a recipient.
    pub source: RecipientSource,
    /// True if the email that asks for a confirmation was sent.
    pub is_confirmation_sent: bool,
}

/// The effect of a link in an email.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkAction {
    /// The recipient wants emails.
    Confirm,
    /// The recipient wants no emails.
    Unsubscribe,
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// All messages about a check, before they are enqueued one by one.
    Check,
    /// Email that asks a recipient for a confirmation.
    Confirmation,
    /// Email about a check to one recipient.
    Email,
    /// Message about a check to one channel.
    Channel,
}

names!(MessageKind: Check = "check", Confirmation = "confirmation", Email = "email", Channel = "channel");

/// A message that this process sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRecord {
    /// Number in the store.
    pub number: i64,
    /// Kind of the message.
    pub kind: MessageKind,
    /// Number of the monitor.
    pub monitor: i64,
    /// Number of the check; `None` for a confirmation.
    pub check: Option<i64>,
    /// Recipient of an email.
    pub recipient: Option<RecipientRecord>,
    /// The key of the channel.
    pub channel: Option<String>,
    /// Attempts to send it, with the present one. Those that ended before they began to send do not count.
    pub attempts: u32,
    /// Previous attempts of which it is unknown whether they sent the message.
    pub interruptions: u32,
    /// Time of its creation, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
}

/// The end of an attempt to send a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageOutcome {
    /// It was sent.
    Sent,
    /// It is not sent: it failed for good, or is no longer wanted.
    Dropped,
    /// It failed, and is sent again.
    Retry {
        /// Time of the next attempt, in milliseconds since the Unix epoch.
        due_at_ms: u64,
        /// True if the attempt may have sent it.
        is_uncertain: bool,
    },
}

/// Limits of the emails that ask for a confirmation, so that no address can be flooded through this service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfirmationLimits {
    /// Maximum of emails to one address in 24 hours, from all teams.
    pub max_per_address_day: u64,
    /// Maximum of emails to one address in 30 days, from all teams.
    pub max_per_address_month: u64,
    /// Maximum of emails that a team causes in 24 hours.
    pub max_per_team_day: u64,
}

impl Default for ConfirmationLimits {
    fn default() -> Self {
        Self { max_per_address_day: 3, max_per_address_month: 10, max_per_team_day: 100 }
    }
}

/// Outcome of asking for the right to send a confirmation email.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmationPermit {
    /// It may be sent.
    Granted,
    /// A limit is reached. The message is due again when the limit allows it.
    Postponed,
    /// This process does not own the message any more.
    Lost,
}
