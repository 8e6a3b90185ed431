//! The address guard: decides which addresses the client may connect to, for every connection, after name resolution.

mod connect_to;
mod network;
mod special;

use std::net::IpAddr;

use thiserror::Error;

pub(crate) use connect_to::ConnectTarget;
use connect_to::{ConnectTo, Rule};
pub use network::IpNetwork;
pub use special::is_public;

/// Decides which addresses may be connected to.
///
/// By default these are the globally reachable addresses by the IANA special-purpose registries ([`is_public`]).
/// Nothing in the environment weakens the guard: networks are allowed one by one, and hosts are mapped by
/// [`connect_to`](Self::connect_to).
#[derive(Debug, Clone, Default)]
pub struct AddressGuard {
    scope: Scope,
    allowed: Vec<IpNetwork>,
    connect_to: ConnectTo,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Scope {
    #[default]
    Public,
    Everything,
}

/// An invalid network or rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GuardError {
    /// The text is not an address with an optional prefix length.
    #[error("{text:?} is not a network such as 10.0.0.0/8 or fd00::/8")]
    Network {
        /// Invalid value.
        text: String,
    },
    /// The address has bits outside its prefix.
    #[error("{text:?} has bits outside its prefix; the network is {network}")]
    HostBits {
        /// Invalid value.
        text: String,
        /// The network with these bits cleared.
        network: IpNetwork,
    },
    /// The text is not `host:port`, `*.suffix:port` or `*:port`.
    #[error("{text:?} is not host:port, *.suffix:port or *:port")]
    Pattern {
        /// Invalid value.
        text: String,
    },
    /// The text is not `address:port` or `host:port`.
    #[error("{text:?} is not address:port or host:port")]
    Target {
        /// Invalid value.
        text: String,
    },
    /// There are two rules for one pattern.
    #[error("{text:?} is mapped twice")]
    Duplicate {
        /// The pattern.
        text: String,
    },
}

impl AddressGuard {
    /// Returns a guard that allows only globally reachable addresses.
    #[must_use]
    pub fn public() -> Self {
        Self::default()
    }

    /// Returns a guard that allows every address: for clients of services that the operator chose, never for URLs of
    /// others.
    #[must_use]
    pub fn open() -> Self {
        Self { scope: Scope::Everything, ..Self::default() }
    }

    /// Allows the addresses of `network` in addition.
    #[must_use]
    pub fn allow(mut self, network: IpNetwork) -> Self {
        self.allowed.push(network);
        self
    }

    /// Connects to `to` instead of `from`, like curl's `--connect-to`. `Host` and SNI do not change.
    ///
    /// `from` is `host:port`, `*.suffix:port` (names below the suffix, not the suffix itself) or `*:port` (every name).
    /// The most specific rule wins: an exact host, then the longest suffix, then `*`. Patterns with an asterisk match
    /// names only. An address literal in a URL is mapped by an exact rule or not at all, so a rule for `*:80` does not
    /// open `http://169.254.169.254/`. The guard allows the destination of a rule without a check.
    ///
    /// # Errors
    /// [`GuardError`] for an invalid part, or for a pattern that already has a rule.
    pub fn connect_to(mut self, from: &str, to: &str) -> Result<Self, GuardError> {
        self.connect_to.add(Rule::parse(from, to)?, from)?;
        Ok(self)
    }

    /// Returns whether the networks of this guard allow a connection to `address`.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.scope == Scope::Everything
            || self.allowed.iter().any(|network| network.contains(address))
            || is_public(address)
    }

    /// Returns the rule that refuses `address`, for the operator's log: its network in the IANA registries and the
    /// purpose of that network. `None` if the address is allowed.
    pub(crate) fn rule_against(&self, address: IpAddr) -> Option<String> {
        if self.allows(address) {
            return None;
        }
        special::special_purpose(address).map(|(network, purpose)| format!("{network}, {purpose}"))
    }

    /// Returns whether this guard allows every address of a host, so that its addresses need not be known.
    pub(crate) fn skips_address_check(&self, host: &str, port: u16) -> bool {
        self.scope == Scope::Everything && self.target(host, port).is_none()
    }

    pub(crate) fn target(&self, host: &str, port: u16) -> Option<&ConnectTarget> {
        self.connect_to.find(host, port)
    }
}
