//! Rules that connect a host and port of a URL to another address.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::GuardError;

/// Destination of connections to a mapped host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConnectTarget {
    Address(SocketAddr),
    Name { host: String, port: u16 },
}

/// One rule: the hosts and port that it maps, and their destination.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pattern: Pattern,
    port: u16,
    target: ConnectTarget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Host(String),
    /// A suffix with its leading dot, without the asterisk.
    Suffix(String),
    AnyName,
}

/// All rules, the most specific one first.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectTo(Vec<Rule>);

impl Rule {
    pub(super) fn parse(from: &str, to: &str) -> Result<Self, GuardError> {
        let invalid_pattern = || GuardError::Pattern { text: from.to_owned() };
        let invalid_target = || GuardError::Target { text: to.to_owned() };
        let (host, port) = split(from).ok_or_else(invalid_pattern)?;
        let pattern = match host.strip_prefix('*') {
            Some("") => Pattern::AnyName,
            Some(suffix) if suffix.len() > 1 && suffix.starts_with('.') && is_host(&suffix[1..]) => {
                Pattern::Suffix(normalize(suffix))
            }
            Some(_) => return Err(invalid_pattern()),
            None if is_host(host) => Pattern::Host(normalize(host)),
            None => return Err(invalid_pattern()),
        };
        let (host, target_port) = split(to).ok_or_else(invalid_target)?;
        let target = match literal(host) {
            Some(address) => ConnectTarget::Address(SocketAddr::new(address, target_port)),
            None if is_host(host) => ConnectTarget::Name { host: normalize(host), port: target_port },
            None => return Err(invalid_target()),
        };
        Ok(Self { pattern, port, target })
    }

    /// Returns the rank of a rule: exact hosts before suffixes, long suffixes before short ones, and the asterisk last.
    fn specificity(&self) -> usize {
        match &self.pattern {
            Pattern::Host(_) => usize::MAX,
            Pattern::Suffix(suffix) => suffix.len(),
            Pattern::AnyName => 0,
        }
    }

    fn matches(&self, host: &str, port: u16) -> bool {
        self.port == port
            && match &self.pattern {
                Pattern::Host(name) => name == host,
                Pattern::Suffix(suffix) => {
                    host.len() > suffix.len() && host.ends_with(suffix.as_str()) && literal(host).is_none()
                }
                Pattern::AnyName => literal(host).is_none(),
            }
    }
}

impl ConnectTo {
    pub(super) fn add(&mut self, rule: Rule, text: &str) -> Result<(), GuardError> {
        if self.0.iter().any(|existing| existing.pattern == rule.pattern && existing.port == rule.port) {
            return Err(GuardError::Duplicate { text: text.to_owned() });
        }
        let position = self.0.partition_point(|existing| existing.specificity() >= rule.specificity());
        self.0.insert(position, rule);
        Ok(())
    }

    pub(super) fn find(&self, host: &str, port: u16) -> Option<&ConnectTarget> {
        if self.0.is_empty() {
            return None;
        }
        let host = normalize(host);
        self.0.iter().find(|rule| rule.matches(&host, port)).map(|rule| &rule.target)
    }
}

/// Splits `host:port`. The brackets of an IPv6 address remain.
fn split(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let port = if port.bytes().all(|b| b.is_ascii_digit()) { port.parse().ok()? } else { return None };
    (port > 0).then_some((host, port))
}

fn is_host(host: &str) -> bool {
    literal(host).is_some()
        || !host.is_empty()
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            && !host.starts_with('.')
}

fn literal(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => inside.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse().ok().filter(IpAddr::is_ipv4),
    }
}

/// Converts a host to the form of the `url` crate: lower case, no trailing dot, IPv6 in its shortest form.
fn normalize(host: &str) -> String {
    match literal(host) {
        Some(IpAddr::V6(address)) => format!("[{address}]"),
        Some(IpAddr::V4(address)) => address.to_string(),
        None => host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(),
    }
}
