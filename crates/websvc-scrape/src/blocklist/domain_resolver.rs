//! The registrable domains of hosts, for the filters that distinguish requests to other sites.

use std::sync::Once;

use adblock::url_parser::{ResolvesDomain, set_domain_resolver};
use websvc_site::registrable_domain;

struct PublicSuffixResolver;

impl ResolvesDomain for PublicSuffixResolver {
    fn get_host_domain(&self, host: &str) -> (usize, usize) {
        (host.len() - registrable_domain(host).len(), host.len())
    }
}

/// Gives adblock the resolver, which it needs before it matches the first request.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // It fails only if another crate has set a resolver, which is used then.
        let _ = set_domain_resolver(Box::new(PublicSuffixResolver));
    });
}
