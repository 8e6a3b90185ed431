//! No content codings: this crate was built without its feature `compression`.

use super::Step;
use crate::error::FetchError;

/// Value of `Accept-Encoding`.
pub(in crate::client) const ACCEPTED: &str = "identity";

/// The decoder of one coding, of which there is none.
pub(super) enum Coding {}

impl Coding {
    #[expect(clippy::unnecessary_wraps, reason = "decoders of the other build can fail to start")]
    pub(super) fn named(_name: &str) -> Result<Option<Self>, FetchError> {
        Ok(None)
    }

    pub(super) fn restart(&mut self, _input: &[u8]) -> Result<bool, FetchError> {
        match *self {}
    }

    pub(super) fn step(&mut self, _input: &[u8], _output: &mut [u8]) -> Result<Step, FetchError> {
        match *self {}
    }
}
