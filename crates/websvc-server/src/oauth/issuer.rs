//! The issuer: the URL of the service as an authorization server.

use url::Url;

use super::loopback::is_loopback_http;
use super::redirect_uri;

/// The URL of the service as an authorization server. Its MCP endpoint is the only resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthIssuer {
    url: String,
    /// The private-use schemes of addresses to which users may return.
    redirect_schemes: Vec<String>,
}

/// The error for a scheme that addresses of clients may not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{scheme:?} {rule}")]
pub struct InvalidScheme {
    scheme: String,
    rule: &'static str,
}

/// The error for a public URL that cannot be an issuer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url} cannot be the issuer of OAuth: {rule}")]
pub struct InvalidIssuer {
    url: Url,
    rule: &'static str,
}

impl OauthIssuer {
    /// Makes the public URL of the service the issuer.
    ///
    /// # Errors
    /// [`InvalidIssuer`] for a URL with a path, because clients look for the metadata at the root of the host, and for http
    /// except on loopback.
    pub fn new(public_url: &Url) -> Result<Self, InvalidIssuer> {
        let rule = if public_url.path() != "/" {
            "clients look for its metadata at the root of the host, so the URL must have no path"
        } else if !(public_url.scheme() == "https" || is_loopback_http(public_url)) {
            "tokens need https, except on loopback"
        } else {
            let redirect_schemes = redirect_uri::DEFAULT_SCHEMES.iter().map(|scheme| (*scheme).to_owned());
            return Ok(Self {
                url: public_url.as_str().trim_end_matches('/').to_owned(),
                redirect_schemes: redirect_schemes.collect(),
            });
        };
        Err(InvalidIssuer { url: public_url.clone(), rule })
    }

    /// Permits these private-use schemes (RFC 8252, section 7.1) for the addresses of clients, in place of those that known MCP
    /// clients use.
    ///
    /// # Errors
    /// [`InvalidScheme`] for a text that is not a scheme, and for schemes that browsers or systems interpret themselves.
    pub fn with_redirect_schemes(self, redirect_schemes: Vec<String>) -> Result<Self, InvalidScheme> {
        for scheme in &redirect_schemes {
            redirect_uri::check_scheme(scheme)
                .map_err(|rule| InvalidScheme { scheme: scheme.clone(), rule })?;
        }
        Ok(Self { redirect_schemes, ..self })
    }

    /// Returns the private-use schemes that known MCP clients use.
    #[must_use]
    pub fn default_redirect_schemes() -> &'static [&'static str] {
        redirect_uri::DEFAULT_SCHEMES
    }

    /// Returns the URL, without a trailing slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.url
    }

    pub(super) fn redirect_schemes(&self) -> &[String] {
        &self.redirect_schemes
    }

    /// Returns the URL of the MCP endpoint.
    pub(super) fn resource(&self) -> String {
        format!("{}/mcp", self.url)
    }

    /// Returns whether a resource indicator (RFC 8707) names this service. Clients send the URL of the endpoint, and some that
    /// of its host.
    pub(super) fn is_resource(&self, text: &str) -> bool {
        let text = text.trim_end_matches('/');
        text == self.url || text == self.resource()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Option<&str>) {
        let issuer = OauthIssuer::new(&url.parse().unwrap()).ok();
        assert_eq!(issuer.as_ref().map(OauthIssuer::as_str), expected, "{url}");
    }

    #[test]
    fn issuer_is_https_or_loopback_without_a_path() {
        check("https://websvc.test/", Some("https://websvc.test"));
        check("https://websvc.test:8443", Some("https://websvc.test:8443"));
        check("http://127.0.0.1:3002", Some("http://127.0.0.1:3002"));
        check("http://localhost:3002", Some("http://localhost:3002"));
        check("http://websvc.test", None);
        check("http://10.0.0.1", None);
        check("https://websvc.test/api", None);
    }

    #[test]
    fn schemes_of_the_configuration_replace_the_known_ones() {
        let issuer = || OauthIssuer::new(&"https://websvc.test".parse().unwrap()).unwrap();
        assert!(issuer().redirect_schemes().iter().any(|scheme| scheme == "cursor"));
        let schemes = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let changed = issuer().with_redirect_schemes(schemes(&["com.example.app"])).unwrap();
        assert_eq!(changed.redirect_schemes(), ["com.example.app"]);
        assert!(issuer().with_redirect_schemes(Vec::new()).unwrap().redirect_schemes().is_empty());
        let error = issuer().with_redirect_schemes(schemes(&["cursor", "javascript"])).unwrap_err();
        assert!(error.to_string().starts_with("\"javascript\" is a scheme that browsers"), "{error}");
    }

    #[test]
    fn resource_is_the_endpoint_or_its_host() {
        let issuer = OauthIssuer::new(&"https://websvc.test".parse().unwrap()).unwrap();
        for own in ["https://websvc.test/mcp", "https://websvc.test", "https://websvc.test/mcp/"] {
            assert!(issuer.is_resource(own), "{own}");
        }
        for other in
            ["https://websvc.test.evil.test/mcp", "https://other.test/mcp", "http://websvc.test/mcp", ""]
        {
            assert!(!issuer.is_resource(other), "{other}");
        }
    }
}
