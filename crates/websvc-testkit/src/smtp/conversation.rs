//! One conversation of the mail server with a client.

use std::io;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{SmtpFault, SmtpLog, SmtpMessage, SmtpRules, SmtpStream, SmtpTls, wait_for_end};

/// Maximum length of a line, in bytes (RFC 5321, section 4.5.3.1, and RFC 4954 for authentication).
const MAX_LINE_BYTES: usize = 12_288;
/// Maximum size of a message, in bytes.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// How a conversation ended.
pub(super) enum End {
    Quit,
    StartTls,
}

pub(super) struct Conversation<'a, S> {
    stream: &'a mut S,
    rules: &'a SmtpRules,
    log: &'a SmtpLog,
    is_encrypted: bool,
    user: Option<String>,
    from: Option<String>,
    to: Vec<String>,
}

impl<'a, S: SmtpStream> Conversation<'a, S> {
    pub(super) fn new(stream: &'a mut S, rules: &'a SmtpRules, log: &'a SmtpLog, is_encrypted: bool) -> Self {
        Self { stream, rules, log, is_encrypted, user: None, from: None, to: Vec::new() }
    }

    pub(super) async fn run(&mut self, has_greeting: bool) -> io::Result<End> {
        if has_greeting {
            self.greet().await?;
        }
        loop {
            let line = self.read_line().await?;
            let mode = if self.is_encrypted { "TLS" } else { "plain" };
            self.log.commands.lock().push(format!("{mode} {line}"));
            let upper = line.to_ascii_uppercase();
            match upper.split(' ').next().unwrap_or_default() {
                "EHLO" => self.hello().await?,
                "STARTTLS" if matches!(self.rules.tls, SmtpTls::StartTls(_)) && !self.is_encrypted => {
                    let injected = self.rules.fault == SmtpFault::InjectBeforeTls;
                    self.reply(if injected { "220 go ahead\r\n250 injected" } else { "220 go ahead" })
                        .await?;
                    return Ok(End::StartTls);
                }
                "AUTH" => self.authenticate(&line).await?,
                "MAIL" => self.mail(&line).await?,
                "RCPT" => self.recipient(&line).await?,
                "DATA" => self.data().await?,
                "QUIT" => {
                    // Counted before the reply, after which the client may open another connection.
                    self.log.count_closed();
                    // The client may have closed the connection.
                    let _ = self.reply("221 bye").await;
                    return Ok(End::Quit);
                }
                _ => self.reply("502 5.5.2 unknown command").await?,
            }
        }
    }

    async fn greet(&mut self) -> io::Result<()> {
        match self.rules.fault {
            SmtpFault::NotSmtp => self.reply("HTTP/1.1 400 Bad Request").await,
            SmtpFault::EndlessLine => loop {
                self.stream.write_all(&[b'2'; 4_096]).await?;
            },
            SmtpFault::Busy => self.reply("421 4.3.2 too many connections").await,
            SmtpFault::None
            | SmtpFault::Hang
            | SmtpFault::HangAfterMessage
            | SmtpFault::CutInMessage
            | SmtpFault::InjectBeforeTls
            | SmtpFault::RepeatPassword => self.reply("220 fake.test ESMTP").await,
        }
    }

    async fn hello(&mut self) -> io::Result<()> {
        let mut lines = vec!["fake.test".to_owned()];
        if matches!(self.rules.tls, SmtpTls::StartTls(_)) && !self.is_encrypted {
            lines.push("STARTTLS".to_owned());
        }
        if self.rules.login.is_some() {
            let mechanisms = self.rules.mechanisms;
            lines.push(format!("AUTH {}", if mechanisms.is_empty() { "PLAIN LOGIN" } else { mechanisms }));
        }
        lines.push("8BITMIME".to_owned());
        let last = lines.len() - 1;
        let reply = lines.iter().enumerate().map(|(index, line)| {
            let separator = if index == last { ' ' } else { '-' };
            format!("250{separator}{line}")
        });
        let reply = Vec::from_iter(reply).join("\r\n");
        self.reply(&reply).await
    }

    /// Reads the user name and the password (RFC 4954, RFC 4616).
    async fn authenticate(&mut self, line: &str) -> io::Result<()> {
        let mut words = line.split(' ').skip(1);
        let mechanism = words.next().unwrap_or_default().to_ascii_uppercase();
        let (user, password) = match mechanism.as_str() {
            "PLAIN" => {
                let fields = decode(words.next().unwrap_or_default());
                let mut fields = fields.split('\0').skip(1);
                let mut next = || fields.next().unwrap_or_default().to_owned();
                (next(), next())
            }
            "LOGIN" => {
                // Base64 of "Username:" and "Password:".
                self.reply("334 VXNlcm5hbWU6").await?;
                let user = decode(&self.read_line().await?);
                self.reply("334 UGFzc3dvcmQ6").await?;
                (user, decode(&self.read_line().await?))
            }
            _ => return self.reply("504 5.5.4 unknown mechanism").await,
        };
        if self.rules.login == Some((user.as_str(), password.as_str())) {
            self.user = Some(user);
            return self.reply("235 2.7.0 accepted").await;
        }
        let repeated = if self.rules.fault == SmtpFault::RepeatPassword { password } else { String::new() };
        self.reply(&format!("535 5.7.8 wrong user name or password {repeated}")).await
    }

    async fn mail(&mut self, line: &str) -> io::Result<()> {
        if self.rules.login.is_some() && self.user.is_none() {
            return self.reply("530 5.7.0 authentication required").await;
        }
        self.from = Some(path(line));
        self.to.clear();
        self.reply("250 2.1.0 ok").await
    }

    async fn recipient(&mut self, line: &str) -> io::Result<()> {
        let address = path(line);
        if self.rules.refused.contains(&address.as_str()) {
            return self.reply("550-5.1.1 no such user\r\n550 5.1.1 here").await;
        }
        self.to.push(address);
        self.reply("250 2.1.5 ok").await
    }

    async fn data(&mut self) -> io::Result<()> {
        let Some(from) = self.from.take() else { return self.reply("503 5.5.1 MAIL first").await };
        self.reply("354 end with a dot").await?;
        if self.rules.fault == SmtpFault::CutInMessage {
            self.read_line().await?;
            return Err(io::Error::other("cut"));
        }
        let mut data = String::new();
        loop {
            let line = self.read_line().await?;
            if line == "." {
                break;
            }
            data.push_str(line.strip_prefix('.').unwrap_or(&line));
            data.push_str("\r\n");
            if data.len() > MAX_MESSAGE_BYTES {
                return Err(io::Error::other("too large"));
            }
        }
        if self.rules.fault == SmtpFault::HangAfterMessage {
            return wait_for_end(self.stream).await;
        }
        let to = std::mem::take(&mut self.to);
        let (user, is_encrypted) = (self.user.clone(), self.is_encrypted);
        self.log.messages.lock().push(SmtpMessage { from, to, data, user, is_encrypted });
        self.reply("250 2.0.0 queued").await
    }

    /// Reads a line without its end. It takes no byte more, because TLS may follow.
    async fn read_line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            if line.len() == MAX_LINE_BYTES {
                return Err(io::Error::other("the line is too long"));
            }
            line.push(self.stream.read_u8().await?);
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line).map_err(io::Error::other)
    }

    async fn reply(&mut self, text: &str) -> io::Result<()> {
        self.stream.write_all(format!("{text}\r\n").as_bytes()).await?;
        self.stream.flush().await
    }
}

/// Returns the address between angle brackets.
fn path(line: &str) -> String {
    let inner = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map(|(address, _)| address.to_owned()).unwrap_or_default()
}

/// Decodes Base64. Text that is not Base64 counts as empty.
fn decode(text: &str) -> String {
    let bytes = BASE64_STANDARD.decode(text).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
