//! Helpers for the tests of websvc: a loopback web of many hosts, and fakes of external services.
//!
//! A [`TestWeb`] has one listener for `http` and one for `https`, which respond for any number of hosts by the `Host`
//! header. With [`TestWeb::connect_to`], the client under test connects to them for all URLs. [`TestWeb::requests`]
//! returns the received requests. A [`Canary`] is an address to which no connection may be made.

mod attacks;
mod authority;
mod canary;
mod elastic;
mod elastic_admin;
mod elastic_analysis;
mod elastic_forms;
mod elastic_query;
mod elastic_suggest;
mod elastic_teams;
mod files;
mod forward_proxy;
mod model;
mod oidc;
mod openapi;
mod page;
mod proof;
mod s3;
#[cfg(feature = "s3-fs")]
mod s3_fs;
mod searxng;
mod skip;
mod smtp;
mod socks_proxy;
mod syslog;
mod tcp_forwarder;
mod test_web;
mod wait_for;

pub use attacks::{ATTACKER, OTHER_ACCESSES, REQUESTS};
pub use authority::Authority;
pub use canary::Canary;
pub use elastic::FakeElasticsearch;
pub use forward_proxy::{ForwardProxy, Routes, Rules};
pub use model::FakeModel;
pub use oidc::{FakeOidc, OidcKey};
pub use openapi::openapi_document;
pub use page::{Coding, Page};
pub use proof::{is_proof, scaled};
pub use s3::{FakeS3, S3Object};
#[cfg(feature = "s3-fs")]
pub use s3_fs::S3Fs;
pub use searxng::FakeSearxng;
pub use skip::{skip, skip_test};
pub use smtp::{FakeSmtp, SmtpFault, SmtpMessage, SmtpRules, SmtpStream, SmtpTls, SmtpTlsAcceptor};
pub use socks_proxy::SocksProxy;
pub use syslog::FakeSyslog;
pub use tcp_forwarder::TcpForwarder;
pub use test_web::{ReceivedRequest, TestWeb, TestWebBuilder};
pub use wait_for::until;
