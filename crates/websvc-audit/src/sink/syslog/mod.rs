//! A sink that sends syslog messages.

mod address;
mod connection;
mod message;

use std::time::Duration;

use tokio::time::timeout;
use websvc_transport::Client;

use crate::error::SinkError;
use crate::spool::Batch;
use connection::Connection;
use message::Sender;

pub use address::SyslogAddress;

/// The timeout of connecting, and of sending a batch.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The time after a batch during which the connection must stay open. Syslog messages are not acknowledged, but a
/// receiver that is gone closes the connection, or the system does.
const ALIVE_AFTER_BATCH: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct SyslogSink {
    client: Client,
    address: SyslogAddress,
    sender: Sender,
    connection: Option<Connection>,
}

impl SyslogSink {
    pub(super) fn new(client: Client, address: SyslogAddress, hostname: Option<&str>) -> Self {
        Self { client, address, sender: Sender::new(hostname), connection: None }
    }

    pub(super) async fn check(&mut self) -> Result<(), SinkError> {
        connect(&self.client, &self.address).await.map(drop)
    }

    pub(super) async fn deliver(&mut self, batch: &Batch) -> Result<(), SinkError> {
        // A connection that was closed in the meantime may still accept a message.
        let existing = self.connection.take().and_then(Connection::if_alive);
        let mut connection = match existing {
            Some(connection) => connection,
            None => connect(&self.client, &self.address).await?,
        };
        let messages: Vec<Vec<u8>> = batch.events.iter().map(|event| self.sender.message(event)).collect();
        match timeout(TIMEOUT, connection.send(&messages)).await {
            Ok(sent) => sent.map_err(|error| SinkError::io("the messages cannot be sent", &error))?,
            Err(_) => return Err(SinkError::new("sending timed out")),
        }
        if let Ok(error) = timeout(ALIVE_AFTER_BATCH, connection.closed()).await {
            return Err(SinkError::io("the connection ended", &error));
        }
        self.connection = Some(connection);
        Ok(())
    }
}

async fn connect(client: &Client, address: &SyslogAddress) -> Result<Connection, SinkError> {
    match timeout(TIMEOUT, Connection::open(client, address, TIMEOUT)).await {
        Ok(opened) => opened,
        Err(_) => Err(SinkError::new("connection timed out")),
    }
}
