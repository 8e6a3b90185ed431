//! How often wrong keys may be tried: a bucket for each address, so that nobody guesses a key of the configuration.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use websvc_types::ErrorCode;

use crate::reply::Failure;

/// So many wrong keys in a row are nothing but mistakes.
const BURST: u32 = 10;

/// After them, one more may be tried in each of these.
const PACE: Duration = Duration::from_secs(30);

/// So many addresses are remembered; the one that is due first is forgotten first.
const MOST: usize = 10_000;

/// The wrong keys of late, by address: when all of them will be forgiven.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<IpAddr, Instant>>);

impl Attempts {
    /// Lets an address try a key, a right one too: otherwise the answer would tell right ones from wrong ones.
    ///
    /// # Errors
    /// 429 when it tried too many wrong ones.
    pub(crate) fn admit(&self, address: IpAddr, now: Instant) -> Result<(), Failure> {
        let attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(forgiven) = attempts.get(&network(address)) else { return Ok(()) };
        let wait = forgiven.saturating_duration_since(now).saturating_sub(PACE * (BURST - 1));
        if wait.is_zero() {
            return Ok(());
        }
        let seconds = wait.as_secs() + 1;
        let text = format!("Too many wrong keys from this address, retry after {seconds}s");
        Err(Failure::new(ErrorCode::RateLimited, text).retry_after(seconds))
    }

    /// Notes a wrong key of an address.
    pub(crate) fn note(&self, address: IpAddr, now: Instant) {
        let mut attempts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        attempts.retain(|_, forgiven| *forgiven > now);
        let address = network(address);
        if attempts.len() >= MOST && !attempts.contains_key(&address) {
            let first = attempts.iter().min_by_key(|(_, forgiven)| **forgiven).map(|(address, _)| *address);
            first.map(|first| attempts.remove(&first));
        }
        let forgiven = attempts.entry(address).or_insert(now);
        // Never further away than that: whoever stops is let in again.
        *forgiven = (*forgiven + PACE).min(now + PACE * BURST);
    }
}

/// Returns the part of an address that one client has: of IPv6 it is the network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_tries_too_many_wrong_keys_waits_and_nobody_else() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        for _ in 0..BURST {
            attempts.admit(address, now).unwrap();
            attempts.note(address, now);
        }
        let refused = attempts.admit(address, now).unwrap_err().into_reply();
        assert_eq!(
            (refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()),
            (429, "31")
        );
        attempts.admit("192.0.2.2".parse().unwrap(), now).unwrap();
        assert!(attempts.admit(address, now + PACE - Duration::from_secs(1)).is_err());
        attempts.admit(address, now + PACE).unwrap();
        attempts.note(address, now + PACE);
        assert!(attempts.admit(address, now + PACE).is_err());
        attempts.admit(address, now + PACE * (BURST + 2)).unwrap();
    }

    #[test]
    fn addresses_of_one_network_are_one_and_their_number_is_bounded() {
        let (attempts, now) = (Attempts::default(), Instant::now());
        for number in 0..BURST {
            attempts.note(format!("2001:db8::{number}").parse().unwrap(), now);
        }
        assert!(attempts.admit("2001:db8::ffff".parse().unwrap(), now).is_err());
        attempts.admit("2001:db8:0:1::1".parse().unwrap(), now).unwrap();
        for number in 0..u32::try_from(MOST).unwrap() + 5 {
            attempts.note(IpAddr::V4((0x0a00_0000 + number).into()), now);
        }
        assert_eq!(attempts.0.lock().unwrap().len(), MOST);
    }
}
