//! Names to addresses, replaceable so that tests can answer as an attacker's name server would.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// The addresses of a host, on their way.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Finds the addresses of a host. What it answers is checked by the guard and then connected to; it is asked once
/// per connection.
pub trait Resolve: Send + Sync {
    /// Returns the addresses in the order in which to try them.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// The system's resolver (`getaddrinfo`), with its hosts file and search order.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
        })
    }
}
