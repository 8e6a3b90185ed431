//! Tests of the server, the guard and the client over loopback.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod address_table;
mod coding;
mod connect_to;
mod fetching;
mod http2;
mod lifecycle;
mod limits;
mod pool;
mod proxies;
mod redirects;
mod relay;
mod ssrf;
mod ssrf_ways;
mod support;
mod switching;
mod tls;
mod tunnel;
mod upgrade;
