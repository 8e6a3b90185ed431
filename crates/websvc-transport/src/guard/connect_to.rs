//! Rules that connect a host and port of a URL to another address.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::GuardError;

/// Replacement address of a mapped host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConnectTarget {
    Address(SocketAddr),
    Name { host: String, port: u16 },
}

/// One rule: what it is for, and where it leads.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pattern: Pattern,
    port: u16,
    target: ConnectTarget,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Host(String),
    /// The text behind the asterisk, so with its leading dot.
    Below(String),
    AnyName,
}

/// All rules, the most specific first.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectTo(Vec<Rule>);

impl Rule {
    pub(super) fn parse(from: &str, to: &str) -> Result<Self, GuardError> {
        let no_pattern = || GuardError::Pattern { text: from.to_owned() };
        let no_target = || GuardError::Target { text: to.to_owned() };
        let (host, port) = split(from).ok_or_else(no_pattern)?;
        let pattern = match host.strip_prefix('*') {
            Some("") => Pattern::AnyName,
            Some(suffix) if suffix.len() > 1 && suffix.starts_with('.') && is_host(&suffix[1..]) => {
                Pattern::Below(normalised(suffix))
            }
            Some(_) => return Err(no_pattern()),
            None if is_host(host) => Pattern::Host(normalised(host)),
            None => return Err(no_pattern()),
        };
        let (host, target_port) = split(to).ok_or_else(no_target)?;
        let target = match literal(host) {
            Some(address) => ConnectTarget::Address(SocketAddr::new(address, target_port)),
            None if is_host(host) => ConnectTarget::Name { host: normalised(host), port: target_port },
            None => return Err(no_target()),
        };
        Ok(Self { pattern, port, target })
    }

    /// Orders exact hosts before suffixes, long before short, and these before the asterisk alone.
    fn specificity(&self) -> usize {
        match &self.pattern {
            Pattern::Host(_) => usize::MAX,
            Pattern::Below(suffix) => suffix.len(),
            Pattern::AnyName => 0,
        }
    }

    fn matches(&self, host: &str, port: u16) -> bool {
        self.port == port
            && match &self.pattern {
                Pattern::Host(name) => name == host,
                Pattern::Below(suffix) => {
                    host.len() > suffix.len() && host.ends_with(suffix.as_str()) && literal(host).is_none()
                }
                Pattern::AnyName => literal(host).is_none(),
            }
    }
}

impl ConnectTo {
    pub(super) fn add(&mut self, rule: Rule, text: &str) -> Result<(), GuardError> {
        if self.0.iter().any(|known| known.pattern == rule.pattern && known.port == rule.port) {
            return Err(GuardError::Duplicate { text: text.to_owned() });
        }
        let place = self.0.partition_point(|known| known.specificity() >= rule.specificity());
        self.0.insert(place, rule);
        Ok(())
    }

    pub(super) fn find(&self, host: &str, port: u16) -> Option<&ConnectTarget> {
        if self.0.is_empty() {
            return None;
        }
        let host = normalised(host);
        self.0.iter().find(|rule| rule.matches(&host, port)).map(|rule| &rule.target)
    }
}

/// Splits `host:port`; the brackets of an IPv6 address stay on.
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

/// Lower case, no trailing dot, IPv6 in its shortest form: as the `url` crate writes hosts.
fn normalised(host: &str) -> String {
    match literal(host) {
        Some(IpAddr::V6(address)) => format!("[{address}]"),
        Some(IpAddr::V4(address)) => address.to_string(),
        None => host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase(),
    }
}
