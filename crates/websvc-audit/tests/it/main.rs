//! Events through the spool to real receivers on loopback.

mod file;
mod limits;
mod support;
mod syslog;
mod webhook;
