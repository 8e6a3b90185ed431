//! The entry to deliveries: a checked configuration, and a limit of connections.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Semaphore;
use websvc_transport::Client;

use super::config::{Login, MailConfig, MailConfigError};
use super::error::MailError;
use super::session::Session;
use crate::address::Mailbox;
use crate::email::Mail;

/// Maximum number of concurrent connections to the mail server. More deliveries wait.
const MAX_CONNECTIONS: usize = 4;

/// Delivers mail to one mail server. Clones share the limit of connections.
///
/// Every message has a connection of its own, so a recipient that the server refuses does not affect the others.
#[derive(Clone)]
pub struct Mailer(Arc<Inner>);

struct Inner {
    config: MailConfig,
    login: Option<Login>,
    client: Client,
    connections: Semaphore,
}

impl Mailer {
    /// Returns a mailer that connects with `client`, whose guard must allow the address of the server.
    ///
    /// # Errors
    /// [`MailConfigError`] if settings contradict each other.
    pub fn new(config: MailConfig, client: Client) -> Result<Self, MailConfigError> {
        let login = config.check()?;
        Ok(Self(Arc::new(Inner { config, login, client, connections: Semaphore::new(MAX_CONNECTIONS) })))
    }

    /// Returns the sender of all messages.
    #[must_use]
    pub fn from(&self) -> &Mailbox {
        &self.0.config.from
    }

    /// Delivers a message. The time limit begins when a connection may be opened.
    ///
    /// # Errors
    /// [`MailError`] if the server did not accept the message.
    pub async fn send(&self, mail: &Mail) -> Result<(), MailError> {
        let _permit = self.permit().await;
        let mut session = self.session();
        let outcome = session.deliver(mail).await;
        session.quit().await;
        outcome
    }

    /// Connects and authenticates, without sending a message.
    ///
    /// # Errors
    /// [`MailError`] if the server cannot be used.
    pub async fn probe(&self) -> Result<(), MailError> {
        let _permit = self.permit().await;
        let mut session = self.session();
        let outcome = session.open().await;
        session.quit().await;
        outcome
    }

    async fn permit(&self) -> tokio::sync::SemaphorePermit<'_> {
        self.0.connections.acquire().await.expect("the semaphore is never closed")
    }

    fn session(&self) -> Session<'_> {
        let Inner { config, login, client, connections: _ } = &*self.0;
        Session::new(config, login.as_ref(), client)
    }
}

impl fmt::Debug for Mailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailer").field("config", &self.0.config).finish_non_exhaustive()
    }
}
