//! Messages of syslog.

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

/// How long a connection may take to be made, and a batch to be written.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection has to live after a batch: nobody acknowledges messages of syslog, but who is not there any
/// more says so, or the system does.
const SETTLING: Duration = Duration::from_millis(500);

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
        // One that was closed in the meantime takes a message without a word.
        let known = self.connection.take().and_then(Connection::if_alive);
        let mut connection = match known {
            Some(connection) => connection,
            None => connect(&self.client, &self.address).await?,
        };
        let messages: Vec<Vec<u8>> = batch.events.iter().map(|event| self.sender.message(event)).collect();
        match timeout(PATIENCE, connection.send(&messages)).await {
            Ok(sent) => sent.map_err(|error| SinkError::io("the messages cannot be sent", &error))?,
            Err(_) => return Err(SinkError::new("the messages were not taken in time")),
        }
        if let Ok(error) = timeout(SETTLING, connection.over()).await {
            return Err(SinkError::io("the connection ended", &error));
        }
        self.connection = Some(connection);
        Ok(())
    }
}

async fn connect(client: &Client, address: &SyslogAddress) -> Result<Connection, SinkError> {
    match timeout(PATIENCE, Connection::open(client, address, PATIENCE)).await {
        Ok(opened) => opened,
        Err(_) => Err(SinkError::new("it could not be connected to in time")),
    }
}
