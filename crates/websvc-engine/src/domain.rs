//! Names of hosts.

/// Returns whether a host is a domain or one of its subdomains.
pub(crate) fn is_in_domain(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
