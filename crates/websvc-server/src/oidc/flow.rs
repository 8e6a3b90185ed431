//! One sign-in, from the redirect to the provider to the return of the browser.
//!
//! The browser has a random secret in a cookie. State, nonce and the verifier of the proof (RFC 7636) are hashes of it, so the
//! service stores nothing for a sign-in that was only started, and every replica can complete it. A secret is used once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use http::HeaderMap;
use http::header::COOKIE;
use parking_lot::Mutex;
use ring::digest::{SHA256, digest};
use subtle::ConstantTimeEq;

use crate::dashboard::session::random_hex;
use crate::response::ApiError;

/// Time from the start of a sign-in to its end.
pub(super) const FLOW_TTL: Duration = Duration::from_secs(600);
/// Maximum number of remembered secrets. Beyond that, the oldest one is forgotten.
const MAX_USED: usize = 10_000;
/// Hexadecimal digits of the random part of a secret.
const RANDOM_DIGITS: usize = 64;

/// One sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flow {
    /// The value of the cookie: the time of the start in milliseconds since the Unix epoch, and random digits.
    secret: String,
}

impl Flow {
    /// Starts a sign-in.
    ///
    /// # Errors
    /// 500 if the system provides no random numbers.
    pub(super) fn start(now_ms: u64) -> Result<Self, ApiError> {
        Ok(Self { secret: format!("{now_ms}.{}", random_hex()?) })
    }

    /// Returns the sign-in of a browser, if its cookie has one that has not expired.
    pub(super) fn of_browser(headers: &HeaderMap, is_secure: bool, now_ms: u64) -> Option<Self> {
        let name = cookie_name(is_secure);
        let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let secret = pairs.find(|(found, _)| *found == name)?.1;
        let (started_at, random) = secret.split_once('.')?;
        let started_at_ms: u64 = started_at.parse().ok()?;
        let is_random = random.len() == RANDOM_DIGITS && random.bytes().all(|byte| byte.is_ascii_hexdigit());
        let age_ms = now_ms.checked_sub(started_at_ms)?;
        (is_random && u128::from(age_ms) < FLOW_TTL.as_millis()).then(|| Self { secret: secret.to_owned() })
    }

    /// Returns the header that gives the secret to the browser. It has to be sent when the provider redirects the browser, so
    /// it is `SameSite=Lax`.
    pub(super) fn cookie(&self, is_secure: bool) -> String {
        let value = format!("{}; Max-Age={}", self.secret, FLOW_TTL.as_secs());
        set_cookie(&value, is_secure)
    }

    pub(super) fn state(&self) -> String {
        self.derive("state")
    }

    pub(super) fn nonce(&self) -> String {
        self.derive("nonce")
    }

    pub(super) fn verifier(&self) -> String {
        self.derive("verifier")
    }

    /// Returns the S256 challenge of the verifier.
    pub(super) fn challenge(&self) -> String {
        hash(&self.verifier())
    }

    /// Returns whether the provider has returned the state of this sign-in.
    pub(super) fn has_state(&self, state: &str) -> bool {
        self.state().as_bytes().ct_eq(state.as_bytes()).into()
    }

    fn derive(&self, purpose: &str) -> String {
        hash(&format!("websvc sign-in {purpose}\n{}", self.secret))
    }
}

fn hash(text: &str) -> String {
    BASE64URL_NOPAD.encode(digest(&SHA256, text.as_bytes()).as_ref())
}

/// Returns the header that removes the secret from the browser.
pub(super) fn removed_cookie(is_secure: bool) -> String {
    set_cookie("; Max-Age=0", is_secure)
}

/// Over https, the prefix prevents other hosts of the domain from setting the cookie (RFC 6265bis, section 4.1.3.2).
fn cookie_name(is_secure: bool) -> &'static str {
    if is_secure { "__Host-websvc_sign_in" } else { "websvc_sign_in" }
}

fn set_cookie(value: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}", cookie_name(is_secure))
}

/// The sign-ins that the provider has returned, so that a second return of one is refused.
#[derive(Debug, Default)]
pub(super) struct UsedFlows(Mutex<HashMap<String, Instant>>);

impl UsedFlows {
    /// Marks a sign-in as used. Returns whether it was not before.
    pub(super) fn use_once(&self, flow: &Flow, now: Instant) -> bool {
        let mut used = self.0.lock();
        used.retain(|_, at| now.saturating_duration_since(*at) < FLOW_TTL);
        if used.len() >= MAX_USED {
            let oldest = used.iter().min_by_key(|(_, at)| **at).map(|(state, _)| state.clone());
            oldest.map(|oldest| used.remove(&oldest));
        }
        used.insert(flow.state(), now).is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: u64 = 1_700_000_000_000;

    fn browser(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, format!("theme=dark; {cookie}").parse().unwrap());
        headers
    }

    fn pair(flow: &Flow, is_secure: bool) -> String {
        flow.cookie(is_secure).split(';').next().unwrap().to_owned()
    }

    #[test]
    fn browser_brings_its_sign_in_back_for_ten_minutes() {
        let flow = Flow::start(NOW_MS).unwrap();
        for is_secure in [true, false] {
            let headers = browser(&pair(&flow, is_secure));
            let found = |now_ms| Flow::of_browser(&headers, is_secure, now_ms);
            assert_eq!(found(NOW_MS), Some(flow.clone()));
            assert_eq!(found(NOW_MS + 599_999), Some(flow.clone()));
            assert_eq!([found(NOW_MS + 600_000), found(NOW_MS - 1)], [None, None]);
            assert_eq!(Flow::of_browser(&headers, !is_secure, NOW_MS), None, "the names differ");
        }
        for other in ["websvc_sign_in=", "websvc_sign_in=1.2", "websvc_sign_in=x", "other=1"] {
            assert_eq!(Flow::of_browser(&browser(other), false, NOW_MS), None, "{other}");
        }
    }

    #[test]
    fn cookie_is_protected() {
        let flow = Flow::start(NOW_MS).unwrap();
        let cookie = flow.cookie(true);
        assert!(cookie.starts_with("__Host-websvc_sign_in="), "{cookie}");
        assert!(cookie.ends_with("; Max-Age=600; Path=/; HttpOnly; SameSite=Lax; Secure"), "{cookie}");
        assert!(removed_cookie(true).contains("Max-Age=0"));
    }

    #[test]
    fn values_of_a_sign_in_do_not_reveal_each_other() {
        let (flow, other) = (Flow::start(NOW_MS).unwrap(), Flow::start(NOW_MS).unwrap());
        let values = [flow.state(), flow.nonce(), flow.verifier(), flow.challenge(), other.state()];
        for (at, value) in values.iter().enumerate() {
            assert!(!values[..at].contains(value) && !flow.secret.contains(value) && value.len() == 43);
        }
        assert!(flow.has_state(&flow.state()) && !flow.has_state(&other.state()) && !flow.has_state(""));
    }

    #[test]
    fn sign_in_is_used_once_and_the_memory_is_bounded() {
        let (used, now) = (UsedFlows::default(), Instant::now());
        let flow = Flow::start(NOW_MS).unwrap();
        assert!(used.use_once(&flow, now) && !used.use_once(&flow, now));
        assert!(
            !used.use_once(&flow, now + FLOW_TTL - Duration::from_secs(1)),
            "as long as its cookie is valid"
        );
        for number in 0..MAX_USED {
            used.use_once(&Flow { secret: number.to_string() }, now);
        }
        assert_eq!(used.0.lock().len(), MAX_USED);
    }
}
