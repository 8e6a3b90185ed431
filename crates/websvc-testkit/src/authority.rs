//! A certificate authority that is created by a test.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// A certificate authority that only clients with its certificate trust.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    /// Creates an authority with a new key.
    ///
    /// # Panics
    /// If the system provides no randomness.
    #[must_use]
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "websvc test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().expect("the system provides randomness");
        let pem = params.self_signed(&key).expect("the parameters are complete").pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Returns the authority's certificate as PEM.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Writes a certificate for `hosts` and its key as `cert.pem` and `key.pem` into a directory.
    ///
    /// # Panics
    /// If a host name is invalid, or the directory cannot be written.
    pub fn issue_into(&self, dir: &Path, hosts: &[String]) {
        let (cert, key) = self.issue(hosts);
        std::fs::write(dir.join("key.pem"), key).expect("the directory is writable");
        std::fs::write(dir.join("cert.pem"), cert).expect("the directory is writable");
    }

    /// Returns a certificate for `hosts` and its key as PEM.
    ///
    /// # Panics
    /// If a host name is invalid.
    #[must_use]
    pub fn issue(&self, hosts: &[String]) -> (String, String) {
        self.sign(&CertificateParams::new(hosts).expect("host names are valid"))
    }

    /// Returns a certificate for `hosts` that expires at the start of the day `until` (year, month, day), and its key
    /// as PEM.
    ///
    /// # Panics
    /// If a host name or the day is invalid.
    #[must_use]
    pub fn issue_until(&self, hosts: &[String], until: (i32, u8, u8)) -> (String, String) {
        let mut params = CertificateParams::new(hosts).expect("host names are valid");
        params.not_after = rcgen::date_time_ymd(until.0, until.1, until.2);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> (String, String) {
        let key = KeyPair::generate().expect("the system provides randomness");
        let cert = params.signed_by(&key, &self.issuer).expect("the parameters are complete");
        (cert.pem(), key.serialize_pem())
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}
