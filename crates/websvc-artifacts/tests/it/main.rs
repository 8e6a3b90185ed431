//! Tests of artifacts through the public interface: on real directories, and against a service that checks signatures.

#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod bucket;
mod directory;
mod keeping;
mod s3_fs;
mod support;
