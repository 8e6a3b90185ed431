//! A loopback web of many hosts for the tests of websvc.
//!
//! A [`World`] is one listener for `http` and one for `https` that answer for any number of hosts by their `Host`
//! header. Give [`World::connect_to`] to the client under test, and its URLs lead here. What was asked for is kept
//! in [`World::requests`]. A [`Canary`] is an address that nobody may connect to.

mod authority;
mod canary;
mod elastic;
mod elastic_query;
mod files;
mod forward_proxy;
mod model;
mod page;
mod s3;
#[cfg(feature = "s3-fs")]
mod s3_fs;
mod searxng;
mod skip;
mod socks_proxy;
mod syslog;
mod until;
mod world;

pub use authority::Authority;
pub use canary::Canary;
pub use elastic::ElasticStandIn;
pub use forward_proxy::{ForwardProxy, Routes, Rules};
pub use model::ModelStandIn;
pub use page::{Coding, Page};
pub use s3::{S3Object, S3StandIn};
#[cfg(feature = "s3-fs")]
pub use s3_fs::S3Fs;
pub use searxng::SearxngStandIn;
pub use skip::{skip, skip_test};
pub use socks_proxy::SocksProxy;
pub use syslog::SyslogStandIn;
pub use until::until;
pub use world::{Seen, World, WorldBuilder};
