//! The address of a syslog receiver.

use std::path::PathBuf;
use std::str::FromStr;

use url::{Host, Url};

use crate::error::AuditError;

/// The address of a syslog receiver: `udp://host[:514]`, `tcp://host[:601]`, `tls://host[:6514]`, or the path of a
/// socket, `/dev/log` or `unix:///dev/log`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyslogAddress {
    /// One datagram per message (RFC 5426).
    Udp(Host, u16),
    /// A TCP connection with octet counting (RFC 6587).
    Tcp(Host, u16),
    /// A TLS connection with octet counting (RFC 5425).
    Tls(Host, u16),
    /// One datagram per message, to a socket of this machine.
    Unix(PathBuf),
}

impl SyslogAddress {
    /// Returns the host and port; `None` for a socket of this machine.
    #[must_use]
    pub fn remote(&self) -> Option<(&Host, u16)> {
        match self {
            Self::Udp(host, port) | Self::Tcp(host, port) | Self::Tls(host, port) => Some((host, *port)),
            Self::Unix(_) => None,
        }
    }
}

impl FromStr for SyslogAddress {
    type Err = AuditError;

    fn from_str(text: &str) -> Result<Self, AuditError> {
        let invalid = |reason| AuditError::SyslogAddress { given: text.to_owned(), reason };
        if text.starts_with('/') {
            return Ok(Self::Unix(text.into()));
        }
        let url = Url::parse(text).map_err(|_| invalid("neither a URL nor a path that begins with /"))?;
        if url.scheme() == "unix" {
            return match (url.host(), url.path()) {
                (None, path) if path.starts_with('/') && path.len() > 1 => Ok(Self::Unix(path.into())),
                _ => Err(invalid("unix:// needs a path, such as unix:///dev/log")),
            };
        }
        let new_address: fn(Host, u16) -> Self = match url.scheme() {
            "udp" => Self::Udp,
            "tcp" => Self::Tcp,
            "tls" => Self::Tls,
            _ => return Err(invalid("the scheme must be udp, tcp, tls or unix")),
        };
        let port = url.port().unwrap_or(match url.scheme() {
            "udp" => 514,
            "tcp" => 601,
            _ => 6514,
        });
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(invalid("it must consist of a host and a port"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("syslog has no user and password"));
        }
        let host =
            url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| invalid("the host is missing"))?;
        // In URLs of these schemes, an IPv4 address is parsed as a host name.
        let host = Host::parse(host).map_err(|_| invalid("the host is not valid"))?;
        Ok(new_address(host, port))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&SyslogAddress>) {
        assert_eq!(text.parse::<SyslogAddress>().ok().as_ref(), expected, "{text}");
    }

    #[test]
    fn addresses_are_parsed_from_urls_and_paths() {
        let host = |text: &str| Host::parse(text).unwrap();
        check("udp://siem.example", Some(&SyslogAddress::Udp(host("siem.example"), 514)));
        check("tcp://siem.example", Some(&SyslogAddress::Tcp(host("siem.example"), 601)));
        check("tls://siem.example", Some(&SyslogAddress::Tls(host("siem.example"), 6514)));
        check("tls://siem.example:7000/", Some(&SyslogAddress::Tls(host("siem.example"), 7000)));
        check("tcp://127.0.0.1:514", Some(&SyslogAddress::Tcp(Host::Ipv4([127, 0, 0, 1].into()), 514)));
        check("udp://[::1]:514", Some(&SyslogAddress::Udp(host("[::1]"), 514)));
        check("/dev/log", Some(&SyslogAddress::Unix("/dev/log".into())));
        check("unix:///dev/log", Some(&SyslogAddress::Unix("/dev/log".into())));
        for bad in [
            "",
            "siem.example",
            "siem.example:514",
            "http://siem.example",
            "udp://",
            "tcp://:514",
            "unix://",
            "unix://host/dev/log",
            "tcp://a@siem.example",
            "tcp://siem.example/path",
            "tcp://siem.example?a",
        ] {
            check(bad, None);
        }
    }
}
