//! A mail server for tests (RFC 5321) that keeps the messages it receives, and can misbehave.

use std::io;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

mod conversation;

use conversation::{Conversation, End};

/// A stream on which a conversation takes place.
pub trait SmtpStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> SmtpStream for T {}

/// Starts TLS on a connection. The test provides it, because this crate does not depend on a TLS library.
pub type SmtpTlsAcceptor = Arc<
    dyn Fn(TcpStream) -> Pin<Box<dyn Future<Output = io::Result<Box<dyn SmtpStream>>> + Send>> + Send + Sync,
>;

/// Behavior of a [`FakeSmtp`].
#[derive(Clone, Default)]
pub struct SmtpRules {
    /// Encryption of connections.
    pub tls: SmtpTls,
    /// The required user name and password. Only encrypted and plain connections that ask for it get it offered.
    pub login: Option<(&'static str, &'static str)>,
    /// The offered methods of authentication; empty for `PLAIN LOGIN`.
    pub mechanisms: &'static str,
    /// Recipients that are refused with code 550.
    pub refused: Vec<&'static str>,
    /// Misbehavior.
    pub fault: SmtpFault,
}

/// Encryption of the connections of a [`FakeSmtp`].
#[derive(Clone, Default)]
pub enum SmtpTls {
    /// None.
    #[default]
    None,
    /// `STARTTLS` is offered.
    StartTls(SmtpTlsAcceptor),
    /// Connections begin with TLS.
    Implicit(SmtpTlsAcceptor),
}

/// Misbehavior of a [`FakeSmtp`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SmtpFault {
    /// None.
    #[default]
    None,
    /// Nothing is sent, not even a greeting.
    Hang,
    /// Nothing is sent after the message.
    HangAfterMessage,
    /// The connection is closed in the middle of the message.
    CutInMessage,
    /// The greeting is not one of SMTP.
    NotSmtp,
    /// The greeting is an endless line.
    EndlessLine,
    /// The greeting is the code 421.
    Busy,
    /// Replies to commands that only come after TLS are sent before it.
    InjectBeforeTls,
    /// A wrong password is repeated in the reply.
    RepeatPassword,
}

/// A message that a [`FakeSmtp`] accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmtpMessage {
    /// Address of the sender.
    pub from: String,
    /// Addresses of the recipients.
    pub to: Vec<String>,
    /// The message, with the lines ended by CR and LF.
    pub data: String,
    /// Authenticated user.
    pub user: Option<String>,
    /// `true` if it was received over TLS.
    pub is_encrypted: bool,
}

/// A mail server on a loopback address, which is stopped when dropped.
pub struct FakeSmtp {
    port: u16,
    log: SmtpLog,
    task: JoinHandle<()>,
}

/// Received messages and commands.
#[derive(Debug, Clone, Default)]
struct SmtpLog {
    messages: Arc<Mutex<Vec<SmtpMessage>>>,
    commands: Arc<Mutex<Vec<String>>>,
    connections: Arc<Mutex<ConnectionCount>>,
}

/// Number of open connections.
#[derive(Debug, Default)]
struct ConnectionCount {
    open: usize,
    max: usize,
}

impl FakeSmtp {
    /// Starts a server on a free port.
    ///
    /// # Panics
    /// If the system has no free port.
    pub async fn start(rules: SmtpRules) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let port = listener.local_addr().expect("the listener has an address").port();
        let log = SmtpLog::default();
        let received = log.clone();
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (rules, log) = (rules.clone(), received.clone());
                connections.spawn(async move {
                    log.count_opened();
                    // The end of a connection is not an error of the server.
                    let ended = serve(stream, &rules, &log).await;
                    // One that ended with QUIT is counted already.
                    if !matches!(ended, Ok(Some(End::Quit))) {
                        log.count_closed();
                    }
                });
            }
        });
        Self { port, log, task }
    }

    /// Returns the port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the accepted messages, in order of arrival.
    #[must_use]
    pub fn messages(&self) -> Vec<SmtpMessage> {
        self.log.messages.lock().clone()
    }

    /// Returns the received commands, each with `TLS` or `plain` before it.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        self.log.commands.lock().clone()
    }

    /// Returns the maximum number of concurrent connections.
    #[must_use]
    pub fn max_connections(&self) -> usize {
        self.log.connections.lock().max
    }
}

impl SmtpLog {
    fn count_opened(&self) {
        let mut connections = self.connections.lock();
        connections.open += 1;
        connections.max = connections.max.max(connections.open);
    }

    fn count_closed(&self) {
        self.connections.lock().open -= 1;
    }
}

impl Drop for FakeSmtp {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves a connection. Returns how its last conversation ended; `None` if there was none.
async fn serve(stream: TcpStream, rules: &SmtpRules, log: &SmtpLog) -> io::Result<Option<End>> {
    let mut stream = stream;
    if rules.fault == SmtpFault::Hang {
        wait_for_end(&mut stream).await?;
        return Ok(None);
    }
    let end = match &rules.tls {
        SmtpTls::None => Conversation::new(&mut stream, rules, log, false).run(true).await?,
        SmtpTls::Implicit(acceptor) => {
            let mut stream = acceptor(stream).await?;
            Conversation::new(&mut stream, rules, log, true).run(true).await?
        }
        SmtpTls::StartTls(acceptor) => {
            match Conversation::new(&mut stream, rules, log, false).run(true).await? {
                End::Quit => End::Quit,
                End::StartTls => {
                    let mut stream = acceptor(stream).await?;
                    Conversation::new(&mut stream, rules, log, true).run(false).await?
                }
            }
        }
    };
    Ok(Some(end))
}

/// Sends nothing until the client closes the connection.
async fn wait_for_end(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
    let mut buffer = [0; 1_024];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}
