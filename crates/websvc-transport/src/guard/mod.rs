//! Which addresses the client may connect to, decided after name resolution and for every connection.

mod connect_to;
mod network;
mod special;

use std::net::IpAddr;

use thiserror::Error;

pub(crate) use connect_to::ConnectTarget;
use connect_to::{ConnectTo, Rule};
pub use network::IpNetwork;
pub use special::is_public;

/// The rule which addresses may be connected to.
///
/// By default only globally reachable addresses, by the IANA special-purpose registries ([`is_public`]). There is no
/// switch in the environment that weakens it: networks are opened one by one, or hosts are mapped by
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

/// A network or a rule that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GuardError {
    /// Not an address with an optional prefix length.
    #[error("{text:?} is not a network such as 10.0.0.0/8 or fd00::/8")]
    Network {
        /// Invalid value.
        text: String,
    },
    /// The address has bits beyond its prefix.
    #[error("{text:?} has bits outside its prefix; the network is {network}")]
    HostBits {
        /// Invalid value.
        text: String,
        /// The network with these bits cleared.
        network: IpNetwork,
    },
    /// Not `host:port`, `*.suffix:port` or `*:port`.
    #[error("{text:?} is not host:port, *.suffix:port or *:port")]
    Pattern {
        /// Invalid value.
        text: String,
    },
    /// Not `address:port` or `host:port`.
    #[error("{text:?} is not address:port or host:port")]
    Target {
        /// Invalid value.
        text: String,
    },
    /// Two rules for one pattern.
    #[error("{text:?} is mapped twice")]
    Duplicate {
        /// The pattern.
        text: String,
    },
}

impl AddressGuard {
    /// Returns the guard that lets only globally reachable addresses through.
    #[must_use]
    pub fn public() -> Self {
        Self::default()
    }

    /// Returns the guard that lets everything through: for clients of one's own API, never for URLs of others.
    #[must_use]
    pub fn open() -> Self {
        Self { scope: Scope::Everything, ..Self::default() }
    }

    /// Lets the addresses of `network` through too.
    #[must_use]
    pub fn allow(mut self, network: IpNetwork) -> Self {
        self.allowed.push(network);
        self
    }

    /// Connects what a URL calls `from` to `to` instead, like curl's `--connect-to`; `Host` and SNI stay.
    ///
    /// `from` is `host:port`, `*.suffix:port` (names below the suffix, not itself) or `*:port` (every name). The most
    /// specific rule wins: an exact host, then the longest suffix, then `*`. The two patterns stand for names only: an
    /// address literal in a URL is mapped by an exact rule or not at all, so that opening `*:80` does not open
    /// `http://169.254.169.254/`. What a rule names is allowed by itself.
    ///
    /// # Errors
    /// [`GuardError`] names the part that cannot be read, or a pattern given twice.
    pub fn connect_to(mut self, from: &str, to: &str) -> Result<Self, GuardError> {
        self.connect_to.add(Rule::parse(from, to)?, from)?;
        Ok(self)
    }

    /// Tells whether a connection to `address` is allowed by this guard's networks.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.scope == Scope::Everything
            || self.allowed.iter().any(|network| network.contains(address))
            || is_public(address)
    }

    /// Returns the rule by which `address` is refused, for the log of the operator: its network in the registries of IANA
    /// and what that is for. `None` when it is permitted.
    pub(crate) fn rule_against(&self, address: IpAddr) -> Option<String> {
        if self.allows(address) {
            return None;
        }
        special::special_purpose(address).map(|(network, purpose)| format!("{network}, {purpose}"))
    }

    /// Tells whether nothing is left to decide about this host's addresses, so that they need not even be known.
    pub(crate) fn skips_address_check(&self, host: &str, port: u16) -> bool {
        self.scope == Scope::Everything && self.target(host, port).is_none()
    }

    pub(crate) fn target(&self, host: &str, port: u16) -> Option<&ConnectTarget> {
        self.connect_to.find(host, port)
    }
}
