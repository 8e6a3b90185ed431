//! Clients of OAuth, which register themselves.

use data_encoding::HEXLOWER;

use crate::database::Durability;
use crate::error::StoreError;
use crate::sql;
use crate::sql::{Row, params};
use crate::store::Store;

/// Maximum number of clients. Beyond that, the oldest one without a grant is removed.
pub const MAX_OAUTH_CLIENTS: u64 = 1_000;

/// A program that has registered as a client. It has no secret: anyone can register, so its name proves nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthClient {
    /// Identifier.
    pub id: String,
    /// Name that it gave itself.
    pub name: String,
    /// Addresses to which its users return.
    pub redirect_uris: Vec<String>,
    /// Time of its registration, in milliseconds since the Unix epoch.
    pub created_at_ms: u64,
}

impl Store {
    /// Registers a client. `None` if there are [`MAX_OAUTH_CLIENTS`], all with grants.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database.
    pub fn register_oauth_client(
        &self,
        name: &str,
        redirect_uris: &[String],
    ) -> Result<Option<OauthClient>, StoreError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|source| StoreError::Random { source })?;
        let id = HEXLOWER.encode(&bytes);
        let uris = serde_json::to_string(redirect_uris).expect("texts can always be written as JSON");
        self.database().write(Durability::Process, |transaction| {
            transaction.execute(
                "DELETE FROM oauth_clients WHERE id IN ( \
                     SELECT id FROM oauth_clients WHERE id NOT IN (SELECT client FROM oauth_grants) \
                     ORDER BY created_at LIMIT ( \
                         SELECT CASE WHEN count(*) >= ?1 THEN count(*) - ?1 + 1 ELSE 0 END FROM oauth_clients))",
                params![MAX_OAUTH_CLIENTS],
            )?;
            let count: u64 =
                transaction.query_row("SELECT count(*) FROM oauth_clients", params![], |row| row.get(0))?;
            if count >= MAX_OAUTH_CLIENTS {
                return Ok(None);
            }
            let created_at_ms = transaction.now_ms();
            transaction.execute(
                "INSERT INTO oauth_clients (id, name, redirect_uris, created_at) VALUES (?1, ?2, ?3, ?4)",
                params![id, name, uris, created_at_ms],
            )?;
            let (name, redirect_uris) = (name.to_owned(), redirect_uris.to_vec());
            Ok(Some(OauthClient { id: id.clone(), name, redirect_uris, created_at_ms }))
        })
    }

    /// Returns the client with this id.
    ///
    /// # Errors
    /// Failures of the database.
    pub fn oauth_client(&self, id: &str) -> Result<Option<OauthClient>, StoreError> {
        let sql = "SELECT id, name, redirect_uris, created_at FROM oauth_clients WHERE id = ?1";
        self.database().read(|connection| connection.query_optional(sql, params![id], client_from_row))
    }
}

fn client_from_row(row: &Row<'_>) -> sql::Result<OauthClient> {
    Ok(OauthClient {
        id: row.get(0)?,
        name: row.get(1)?,
        redirect_uris: row.parse(2, |text: &str| serde_json::from_str(text))?,
        created_at_ms: row.get(3)?,
    })
}
