//! Keys that the holders of invitations redeem.

#[cfg(feature = "schemars")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::limits::{INVITATION_MAX_CHARS, INVITATION_MIN_CHARS};

/// Request of `POST /v2/keys/redeem`: redeems an invitation for a key, once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RedeemRequest {
    /// The invitation (`fi-` and 32 digits), or the link that contains it, 35 to 2048 characters.
    #[cfg_attr(feature = "schemars", schemars(length(min = INVITATION_MIN_CHARS, max = INVITATION_MAX_CHARS)))]
    pub invitation: String,
}

/// Response of `POST /v2/keys/redeem`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
pub struct RedeemResponse {
    /// Always true.
    pub success: bool,
    /// The new key.
    pub data: RedeemedKey,
}

/// A new key. It cannot be read again.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RedeemedKey {
    /// The key, which requests send as `Authorization: Bearer`. It cannot be read again.
    pub key: String,
    /// ID of the key, which may be public.
    pub id: String,
    /// Team of the key.
    pub team: String,
    /// Purpose of the key; may be empty.
    pub name: String,
    /// The only permitted operations, such as `search`. Absent: all.
    pub scopes: Option<Vec<String>>,
    /// The only permitted formats, such as `markdown`. Absent: all.
    pub formats: Option<Vec<String>>,
    /// The only client addresses and CIDR blocks that may use the key. Absent: all.
    pub allow_ip: Option<Vec<String>>,
    /// Requests per minute with the key, within the limit of its team. Absent: no limit of its own.
    pub requests_per_minute: Option<u32>,
    /// Concurrent requests with the key, within the limit of its team. Absent: no limit of its own.
    pub concurrency: Option<u32>,
    /// Expiry of the key, an ISO 8601 time. Absent: never.
    pub expires_at: Option<String>,
}
