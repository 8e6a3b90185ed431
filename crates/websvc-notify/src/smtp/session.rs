//! One session with a mail server: connection, TLS, authentication, message.

use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail as MailFrom, Rcpt, Starttls};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::{Error, response::Response};
use tokio::time::{Instant, timeout_at};
use websvc_transport::{Client, FetchError, Tunnel};

use super::config::{Login, MailConfig, MailTls};
use super::error::{MailError, MailPhase, StepError, step_error};
use super::stream::{Connection, MailStream};
use crate::email::Mail;

/// Methods of authentication, in the order of preference. Both send the password, so TLS protects it.
const MECHANISMS: &[Mechanism] = &[Mechanism::Plain, Mechanism::Login];

/// A session, which begins when it is created and has one time limit.
pub(super) struct Session<'a> {
    config: &'a MailConfig,
    login: Option<&'a Login>,
    client: &'a Client,
    deadline: Instant,
    /// The conversation, while the server follows the protocol.
    smtp: Option<AsyncSmtpConnection>,
}

impl<'a> Session<'a> {
    pub(super) fn new(config: &'a MailConfig, login: Option<&'a Login>, client: &'a Client) -> Self {
        Self { config, login, client, deadline: Instant::now() + config.timeout, smtp: None }
    }

    /// Connects, starts TLS and authenticates.
    pub(super) async fn open(&mut self) -> Result<(), MailError> {
        let smtp = match self.config.tls {
            MailTls::None => {
                let stream = Connection::new(self.connect().await?).stream();
                self.greet(stream).await?
            }
            MailTls::Implicit => {
                let stream = Connection::new(self.connect_with_tls().await?).stream();
                self.greet(stream).await?
            }
            MailTls::StartTls => {
                let tunnel = self.connect().await?;
                let tunnel = self.start_tls(tunnel).await?;
                self.greet(Connection::new(tunnel).stream_after_start_tls()).await?
            }
        };
        self.smtp = Some(smtp);
        self.authenticate().await
    }

    /// Opens the session and sends a message.
    pub(super) async fn deliver(&mut self, mail: &Mail) -> Result<(), MailError> {
        self.open().await?;
        let server = self.config.server();
        let sender = mail.sender();
        let from = MailFrom::new(Some(sender.to_lettre()), Vec::new());
        self.command(from).await?.map_err(|reply| MailError::Sender {
            server: server.clone(),
            sender: sender.to_string(),
            reply,
        })?;
        let recipient = mail.recipient();
        let to = Rcpt::new(recipient.to_lettre(), Vec::new());
        self.command(to).await?.map_err(|reply| MailError::Recipient {
            server: server.clone(),
            recipient: recipient.to_string(),
            reply,
        })?;
        let refused = |reply| MailError::Refused { server: server.clone(), reply };
        self.command(Data).await?.map_err(refused)?;
        let sent = {
            let smtp = self.smtp.as_mut().expect("the session is open");
            timeout_at(self.deadline, smtp.message(mail.as_bytes())).await
        };
        self.reply(MailPhase::Message, sent)?.map_err(refused)
    }

    /// Says goodbye, if the server follows the protocol. The outcome of the session does not depend on it.
    pub(super) async fn quit(&mut self) {
        if let Some(mut smtp) = self.smtp.take() {
            // Both results say that the session is over.
            let _ = timeout_at(self.deadline, smtp.quit()).await;
        }
    }

    async fn connect(&self) -> Result<Tunnel, MailError> {
        let MailConfig { host, port, .. } = self.config;
        let tunnel = self.client.tunnel(host, *port, None, self.remaining()).await;
        tunnel.map_err(|error| self.connect_error(MailPhase::Connect, error))
    }

    async fn connect_with_tls(&self) -> Result<Tunnel, MailError> {
        let MailConfig { host, port, .. } = self.config;
        let tunnel = self.client.secure_tunnel(host, *port, self.remaining()).await;
        tunnel.map_err(|error| self.connect_error(MailPhase::Connect, error))
    }

    /// Asks the server for TLS, and starts it.
    async fn start_tls(&self, tunnel: Tunnel) -> Result<Tunnel, MailError> {
        let no_tls = |reason: String| MailError::Tls { server: self.config.server(), reason };
        let connection = Connection::new(tunnel);
        let mut smtp = self.greet(connection.stream()).await?;
        if !smtp.can_starttls() {
            // The server learns that nothing follows; no reply is needed.
            let _ = timeout_at(self.deadline, smtp.quit()).await;
            return Err(no_tls("it does not offer STARTTLS".to_owned()));
        }
        let started = timeout_at(self.deadline, smtp.command(Starttls)).await;
        self.reply(MailPhase::StartTls, started)?
            .map_err(|reply| no_tls(format!("it refused STARTTLS: {reply}")))?;
        drop(smtp);
        let tunnel = connection.into_tunnel().expect("the stream was dropped with the conversation");
        let encrypted = self.client.start_tls(tunnel, &self.config.host, self.remaining()).await;
        encrypted.map_err(|error| self.connect_error(MailPhase::StartTls, error))
    }

    /// Waits for the greeting, and exchanges `EHLO`.
    async fn greet(&self, stream: Box<MailStream>) -> Result<AsyncSmtpConnection, MailError> {
        // A client without a public name is not worse off with the domain that it sends for.
        let name = ClientId::Domain(self.config.from.address.domain().to_owned());
        let greeted =
            timeout_at(self.deadline, AsyncSmtpConnection::connect_with_transport(stream, &name)).await;
        let outcome = greeted.map_err(|_| self.timed_out(MailPhase::Greeting))?;
        outcome.map_err(|error| match step_error(&error, None) {
            StepError::Reply(reply) => MailError::Refused { server: self.config.server(), reply },
            StepError::Broken(reason) => self.broken(MailPhase::Greeting, reason),
        })
    }

    async fn authenticate(&mut self) -> Result<(), MailError> {
        let Some(login) = self.login else { return Ok(()) };
        let smtp = self.smtp.as_mut().expect("the session is open");
        if smtp.server_info().get_auth_mechanism(MECHANISMS).is_none() {
            return Err(MailError::NoMechanism { server: self.config.server() });
        }
        let credentials = Credentials::new(login.user.clone(), login.password.expose().to_owned());
        let accepted = timeout_at(self.deadline, smtp.auth(MECHANISMS, &credentials)).await;
        self.reply(MailPhase::Authentication, accepted)?
            .map_err(|reply| MailError::Authentication { server: self.config.server(), reply })
    }

    /// Sends a command of a message. The outer error ends the session, the inner one is a negative reply.
    async fn command(
        &mut self,
        command: impl std::fmt::Display,
    ) -> Result<Result<(), super::ServerReply>, MailError> {
        let smtp = self.smtp.as_mut().expect("the session is open");
        let replied = timeout_at(self.deadline, smtp.command(command)).await;
        self.reply(MailPhase::Message, replied)
    }

    fn reply(
        &self,
        phase: MailPhase,
        replied: Result<Result<Response, Error>, tokio::time::error::Elapsed>,
    ) -> Result<Result<(), super::ServerReply>, MailError> {
        let Ok(outcome) = replied else { return Err(self.timed_out(phase)) };
        let Err(error) = outcome else { return Ok(Ok(())) };
        match step_error(&error, self.login.map(|login| login.password.expose())) {
            StepError::Reply(reply) => Ok(Err(reply)),
            StepError::Broken(reason) => Err(self.broken(phase, reason)),
        }
    }

    fn connect_error(&self, phase: MailPhase, error: FetchError) -> MailError {
        let server = self.config.server();
        match error {
            FetchError::Dns { .. } => MailError::Dns { server, source: error },
            FetchError::Tls { reason, .. } => MailError::Tls { server, reason },
            FetchError::Timeout { .. } => self.timed_out(phase),
            _ => MailError::Connect { server, source: error },
        }
    }

    fn broken(&self, phase: MailPhase, reason: String) -> MailError {
        MailError::Connection { server: self.config.server(), phase, reason }
    }

    fn timed_out(&self, phase: MailPhase) -> MailError {
        MailError::Timeout { server: self.config.server(), phase, timeout: self.config.timeout }
    }

    fn remaining(&self) -> std::time::Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}
