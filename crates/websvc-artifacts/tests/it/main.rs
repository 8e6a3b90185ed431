//! Tests of the artifact store, with directories, and with S3 services that verify signatures.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod access;
mod bucket;
mod directory;
mod s3_fs;
mod support;
