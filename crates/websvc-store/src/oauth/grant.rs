//! Grants: a code that a user gave to a client, the tokens for which the client exchanges it, and their rotation.

use subtle::ConstantTimeEq;

use super::token::{CODE_PREFIX, REFRESH_PREFIX, TokenHashes, new_code, next_refresh_token};
use crate::database::Durability;
use crate::error::StoreError;
use crate::invitation::replace_secret;
use crate::key::{KEY_COLUMNS, KeyId, KeyRecord, insert, key_columns, key_from_row, revoke};
use crate::rights::{KeyRights, rights_columns};
use crate::secret::{ApiSecret, SecretHash};
use crate::sql::{self, Connection, Row, Transaction, params};
use crate::store::Store;
use crate::team::{check_team_name, check_text};

/// Maximum number of grants.
pub const MAX_OAUTH_GRANTS: u64 = 10_000;
/// Time for which a code can be exchanged.
pub const CODE_MS: u64 = 60_000;
/// Lifetime of an access token.
pub const ACCESS_TOKEN_MS: u64 = 3_600_000;
/// Lifetime of a refresh token. Each one that is used makes the next.
pub const REFRESH_TOKEN_MS: u64 = 30 * 86_400_000;

/// The consent of a user to a client.
#[derive(Debug, Clone)]
pub struct NewGrant<'a> {
    /// The client.
    pub client: &'a str,
    /// The address to which the client gets its code.
    pub redirect_uri: &'a str,
    /// The S256 challenge of the client (RFC 7636).
    pub challenge: &'a str,
    /// The team of the access tokens.
    pub team: &'a str,
    /// The label of their key.
    pub label: &'a str,
    /// Their rights, except the expiry.
    pub rights: KeyRights,
}

/// The proof of a client that a code or a refresh token is its own.
#[derive(Debug, Clone, Copy)]
pub enum GrantProof<'a> {
    /// The address of the code, and the challenge that was made of the verifier of the client.
    Code {
        /// The address of the code.
        redirect_uri: &'a str,
        /// The challenge.
        challenge: &'a str,
    },
    /// Nothing: a refresh token.
    RefreshToken,
}

/// New tokens of a client.
#[derive(Debug, Clone)]
pub struct OauthTokens {
    /// The secret of the key.
    pub access_token: ApiSecret,
    /// The token for the next pair.
    pub refresh_token: ApiSecret,
    /// The key.
    pub key: KeyRecord,
}

/// The reason why a client gets no tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantRefusal {
    /// The code or token is unknown, has expired, was revoked, or belongs to another client, address or challenge.
    Invalid,
    /// It was used before, so the grant is revoked.
    Reused {
        /// The team of the grant.
        team: String,
        /// The client.
        client: String,
    },
}

/// A stored grant.
struct Grant {
    client: String,
    secret: SecretHash,
    challenge: Option<String>,
    redirect_uri: Option<String>,
    expires_at_ms: u64,
    key: KeyRecord,
}

/// The columns of a grant with its key.
macro_rules! select_grant {
    () => {
        concat!(
            "SELECT ",
            key_columns!(),
            ", client, secret, challenge, redirect_uri, valid_until FROM oauth_grants JOIN keys ON keys.id = key WHERE "
        )
    };
}

impl Store {
    /// Stores a grant, and returns the code for its client. `None` if there are [`MAX_OAUTH_GRANTS`].
    ///
    /// # Errors
    /// [`StoreError::InvalidName`], [`StoreError::Random`]; otherwise failures of the database.
    pub fn authorize_oauth_client(&self, grant: &NewGrant<'_>) -> Result<Option<ApiSecret>, StoreError> {
        check_team_name(grant.team)?;
        check_text("label", grant.label)?;
        grant.rights.check()?;
        // Forgotten: the key has a known secret only when the code is exchanged.
        let (unknown, code) = (ApiSecret::random()?, new_code()?);
        let hashes = TokenHashes::of(code.expose()).expect("a new code has the form of a code");
        self.database().write(Durability::Process, |transaction| {
            delete_expired(transaction)?;
            let count: u64 =
                transaction.query_row("SELECT count(*) FROM oauth_grants", params![], |row| row.get(0))?;
            if count >= MAX_OAUTH_GRANTS {
                return Ok(None);
            }
            let NewGrant { client, redirect_uri, challenge, team, label, rights } = grant;
            let expires_at_ms = transaction.now_ms() + CODE_MS;
            let Some(key) = insert(transaction, &unknown, team, label, rights, Some(expires_at_ms))? else {
                return Ok(None);
            };
            transaction.execute(
                "INSERT INTO oauth_grants (family, client, key, secret, challenge, redirect_uri, valid_until) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    hashes.family,
                    client,
                    key.id.as_str(),
                    hashes.secret.as_bytes(),
                    challenge,
                    redirect_uri,
                    expires_at_ms
                ],
            )?;
            Ok(Some(code.clone()))
        })
    }

    /// Exchanges a code or a refresh token of a client for new tokens, once. A second attempt revokes the grant. The tokens
    /// survive a power failure.
    ///
    /// # Errors
    /// [`StoreError::Random`]; otherwise failures of the database, after which the client can try again.
    pub fn exchange_oauth_token(
        &self,
        text: &str,
        client: &str,
        proof: GrantProof<'_>,
    ) -> Result<Result<OauthTokens, GrantRefusal>, StoreError> {
        let prefix = match proof {
            GrantProof::Code { .. } => CODE_PREFIX,
            GrantProof::RefreshToken => REFRESH_PREFIX,
        };
        let hashes = TokenHashes::of(text).filter(|_| text.starts_with(prefix));
        let Some(hashes) = hashes else { return Ok(Err(GrantRefusal::Invalid)) };
        // Unknown ones take no lock.
        if self.database().read(|connection| find(connection, &hashes.family))?.is_none() {
            return Ok(Err(GrantRefusal::Invalid));
        }
        let (access_token, refresh_token) = (ApiSecret::random()?, next_refresh_token(text)?);
        let exchanged = self.database().write(Durability::Power, |transaction| {
            let grant = match check(transaction, &hashes, client, proof)? {
                Ok(grant) => grant,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let key = renew(transaction, &hashes.family, grant.key, &access_token, &refresh_token)?;
            Ok(Ok(key))
        })?;
        // The last access token is not valid any more.
        self.access().invalidate();
        Ok(exchanged.map(|key| OauthTokens { access_token, refresh_token, key }))
    }

    /// Revokes the grant of an access or refresh token, if it is one of this client. Returns its key.
    ///
    /// # Errors
    /// Failures of the database; then the grant may continue.
    pub fn revoke_oauth_token(&self, text: &str, client: &str) -> Result<Option<KeyRecord>, StoreError> {
        let hashes = TokenHashes::of(text);
        let access = SecretHash::from_secret(text);
        let revoked = self.database().write(Durability::Power, |transaction| {
            let grant = match &hashes {
                Some(hashes) => find(transaction, &hashes.family)?,
                None => find_by_key(transaction, &access)?,
            };
            let Some(grant) = grant.filter(|grant| grant.client == client) else { return Ok(None) };
            revoke(transaction, grant.key.id.as_str())?;
            Ok(Some(grant.key))
        })?;
        self.access().invalidate();
        Ok(revoked)
    }
}

/// Returns the grant of a code or token that a client may exchange. Revokes the grant if the token was used before.
fn check(
    transaction: &Transaction<'_>,
    hashes: &TokenHashes,
    client: &str,
    proof: GrantProof<'_>,
) -> sql::Result<Result<Grant, GrantRefusal>> {
    let Some(grant) = find(transaction, &hashes.family)? else { return Ok(Err(GrantRefusal::Invalid)) };
    let now_ms = transaction.now_ms();
    if grant.client != client || grant.key.revoked_at_ms.is_some() || grant.expires_at_ms <= now_ms {
        return Ok(Err(GrantRefusal::Invalid));
    }
    if !grant.secret.matches(&hashes.secret) {
        revoke(transaction, grant.key.id.as_str())?;
        return Ok(Err(GrantRefusal::Reused { team: grant.key.team, client: grant.client }));
    }
    let is_proved = match (proof, &grant.challenge, &grant.redirect_uri) {
        (GrantProof::Code { redirect_uri, challenge }, Some(expected), Some(address)) => {
            bool::from(challenge.as_bytes().ct_eq(expected.as_bytes())) && redirect_uri == address
        }
        (GrantProof::RefreshToken, None, None) => true,
        _ => false,
    };
    Ok(if is_proved { Ok(grant) } else { Err(GrantRefusal::Invalid) })
}

/// Gives the key of a grant a new secret and expiry, and the grant a new refresh token.
fn renew(
    transaction: &Transaction<'_>,
    family: &str,
    key: KeyRecord,
    access_token: &ApiSecret,
    refresh_token: &ApiSecret,
) -> sql::Result<KeyRecord> {
    let now_ms = transaction.now_ms();
    let hash = SecretHash::from_secret(access_token.expose());
    replace_secret(transaction, key.id.as_str(), &hash)?;
    let expires_at_ms = now_ms + ACCESS_TOKEN_MS;
    transaction
        .execute("UPDATE keys SET expires_at = ?2 WHERE id = ?1", params![hash.id(), expires_at_ms])?;
    let next = TokenHashes::of(refresh_token.expose()).expect("a new token has the form of a token");
    transaction.execute(
        "UPDATE oauth_grants SET secret = ?2, challenge = NULL, redirect_uri = NULL, valid_until = ?3 \
         WHERE family = ?1",
        params![family, next.secret.as_bytes(), now_ms + REFRESH_TOKEN_MS],
    )?;
    let rights = KeyRights { expires_at_ms: Some(expires_at_ms), ..key.rights };
    Ok(KeyRecord { id: KeyId::new(hash.id()), redeem_until_ms: None, rights, ..key })
}

/// Returns the grant of a family.
fn find(connection: &Connection, family: &str) -> sql::Result<Option<Grant>> {
    connection.query_optional(concat!(select_grant!(), "family = ?1"), params![family], grant_from_row)
}

/// Returns the grant whose access token has this hash.
fn find_by_key(connection: &Connection, hash: &SecretHash) -> sql::Result<Option<Grant>> {
    let sql = concat!(select_grant!(), "keys.id = ?1 AND keys.hash = ?2");
    connection.query_optional(sql, params![hash.id(), hash.as_bytes()], grant_from_row)
}

fn grant_from_row(row: &Row<'_>) -> sql::Result<Grant> {
    Ok(Grant {
        key: key_from_row(row)?,
        client: row.get(KEY_COLUMNS)?,
        secret: SecretHash::from_bytes(row.get(KEY_COLUMNS + 1)?),
        challenge: row.get(KEY_COLUMNS + 2)?,
        redirect_uri: row.get(KEY_COLUMNS + 3)?,
        expires_at_ms: row.get(KEY_COLUMNS + 4)?,
    })
}

/// Deletes the grants that have expired, with their keys.
fn delete_expired(transaction: &Transaction<'_>) -> sql::Result<()> {
    let sql = "DELETE FROM keys WHERE id IN (SELECT key FROM oauth_grants WHERE valid_until <= ?1)";
    transaction.execute(sql, params![transaction.now_ms()]).map(drop)
}
