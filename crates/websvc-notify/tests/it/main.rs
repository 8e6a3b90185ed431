//! Composition of messages, and their delivery to mail servers and receivers of webhooks on loopback.

#![expect(clippy::unwrap_used, reason = "a failing helper fails the test")]

mod atom;
mod channel;
mod delivery;
mod hostile;
mod mail;
mod real_server;
mod slack;
mod support;
mod webhook;
