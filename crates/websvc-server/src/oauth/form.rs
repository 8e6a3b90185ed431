//! Parameters of requests in the encoding of forms.

use std::collections::BTreeMap;

use super::error::OauthError;

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct Parameters(BTreeMap<String, String>);

impl Parameters {
    /// Reads parameters. Those without a value count as absent (RFC 6749, section 3.1).
    ///
    /// # Errors
    /// `invalid_request` if one occurs twice, because two programs might read different ones.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, OauthError> {
        let mut parameters = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(text).filter(|(_, value)| !value.is_empty()) {
            if parameters.insert(name.clone().into_owned(), value.into_owned()).is_some() {
                return Err(OauthError::new("invalid_request", format!("{name} occurs twice")));
            }
        }
        Ok(Self(parameters))
    }

    /// Returns a parameter, if it is present.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns a parameter.
    ///
    /// # Errors
    /// `invalid_request` if it is absent.
    pub(crate) fn require(&self, name: &str) -> Result<&str, OauthError> {
        self.get(name).ok_or_else(|| OauthError::new("invalid_request", format!("{name} is missing")))
    }
}
