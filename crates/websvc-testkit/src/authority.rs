//! A certificate authority made on the spot.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// A certificate authority that nobody trusts until told to.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    /// Makes one with a fresh key.
    ///
    /// # Panics
    /// When the system gives no randomness.
    #[must_use]
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "websvc test authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().expect("a fresh key");
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
    /// When a host is not one, or the directory cannot be written.
    pub fn issue_into(&self, dir: &Path, hosts: &[String]) {
        let (cert, key) = self.issue(hosts);
        std::fs::write(dir.join("key.pem"), key).expect("a writable directory");
        std::fs::write(dir.join("cert.pem"), cert).expect("a writable directory");
    }

    /// Returns a certificate for `hosts` and its key as PEM.
    ///
    /// # Panics
    /// When a host is not one.
    #[must_use]
    pub fn issue(&self, hosts: &[String]) -> (String, String) {
        self.sign(&CertificateParams::new(hosts).expect("host names or addresses"))
    }

    /// Returns a certificate for `hosts` that ends with the day `until` (year, month, day), and its key as PEM.
    ///
    /// # Panics
    /// When a host is not one, or the day is none.
    #[must_use]
    pub fn issue_until(&self, hosts: &[String], until: (i32, u8, u8)) -> (String, String) {
        let mut params = CertificateParams::new(hosts).expect("host names or addresses");
        params.not_after = rcgen::date_time_ymd(until.0, until.1, until.2);
        self.sign(&params)
    }

    fn sign(&self, params: &CertificateParams) -> (String, String) {
        let key = KeyPair::generate().expect("a fresh key");
        let cert = params.signed_by(&key, &self.issuer).expect("the parameters are complete");
        (cert.pem(), key.serialize_pem())
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}
