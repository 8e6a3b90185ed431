//! The validity period of a certificate: the one field of X.509 that rustls does not return.

use std::ops::RangeInclusive;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::server::read;
use crate::error::ServerError;
use crate::server::TlsFiles;

const SEQUENCE: u8 = 0x30;
/// `[0] EXPLICIT`, the version of the certificate.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

impl TlsFiles {
    /// Reads both files, checks that they match, and returns the validity period of the host's certificate, in seconds
    /// since the Unix epoch.
    ///
    /// # Errors
    /// [`ServerError::Tls`], as from [`Server::bind`](crate::Server::bind).
    pub fn validity(&self) -> Result<RangeInclusive<i64>, ServerError> {
        read(self)?;
        let failed = |source| ServerError::Tls { cert: self.cert.clone(), key: self.key.clone(), source };
        let certificate =
            CertificateDer::from_pem_file(&self.cert).map_err(|error| failed(Box::new(error)))?;
        validity(&certificate).ok_or_else(|| failed("the certificate has no validity period".into()))
    }
}

/// Reads `Certificate.tbsCertificate.validity` (RFC 5280, section 4.1).
fn validity(certificate: &[u8]) -> Option<RangeInclusive<i64>> {
    let (certificate, _) = sequence(certificate)?;
    let (mut fields, _) = sequence(certificate)?;
    let (tag, _, rest) = element(fields)?;
    if tag == VERSION {
        fields = rest;
    }
    // The serial number, the algorithm and the issuer come before the validity.
    for _ in 0..3 {
        (_, _, fields) = element(fields)?;
    }
    let (times, _) = sequence(fields)?;
    let (first_tag, first, rest) = element(times)?;
    let (last_tag, last, _) = element(rest)?;
    Some(unix_seconds(first_tag, first)?..=unix_seconds(last_tag, last)?)
}

fn sequence(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == SEQUENCE).then_some((content, rest))
}

/// Splits DER after its first element. Returns the tag, the content and the rest.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (octets, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (octets.iter().fold(0, |length, octet| length << 8 | usize::from(*octet)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// Parses `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`, the only two forms that RFC 5280 allows.
fn unix_seconds(tag: u8, text: &[u8]) -> Option<i64> {
    let digits = text.strip_suffix(b"Z")?;
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = std::str::from_utf8(digits.get(range)?).ok()?;
        digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let (year, at) = match (tag, digits.len()) {
        (UTC_TIME, 12) => {
            let year = number(0..2)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, 2)
        }
        (GENERALIZED_TIME, 14) => (number(0..4)?, 4),
        _ => return None,
    };
    let field = |position: usize| number(at + 2 * position..at + 2 * position + 2);
    let (month, day, hour, minute, second) = (field(0)?, field(1)?, field(2)?, field(3)?, field(4)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    Some(((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Returns the number of days from the Unix epoch to a date. Years begin in March, so that the leap day is their last
/// day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let leap_days = year / 4 - year / 100 + year / 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + leap_days + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_5280_times_are_parsed() {
        for (tag, text, expected) in [
            (UTC_TIME, "700101000000Z", Some(0)),
            (UTC_TIME, "491231235959Z", Some(2_524_607_999)),
            (UTC_TIME, "500101000000Z", Some(-631_152_000)),
            (UTC_TIME, "240229120000Z", Some(1_709_208_000)),
            (GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000)),
            (GENERALIZED_TIME, "99991231235959Z", Some(253_402_300_799)),
            (UTC_TIME, "20500101000000Z", None),
            (UTC_TIME, "7001010000Z", None),
            (UTC_TIME, "701301000000Z", None),
            (UTC_TIME, "70+101000000Z", None),
            (UTC_TIME, "700101000000", None),
        ] {
            assert_eq!(unix_seconds(tag, text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn truncated_certificate_has_no_validity() {
        let certificate = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap().cert;
        let der = certificate.der();
        assert!(validity(der).is_some());
        for end in 0..der.len() {
            assert_eq!(validity(&der[..end]), None, "cut off at {end}");
        }
        assert_eq!(validity(&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
