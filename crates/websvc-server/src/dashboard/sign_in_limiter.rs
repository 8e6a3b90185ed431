//! How often wrong keys may be tried, so that nobody guesses a key of the configuration: by address and beginning of the
//! key, and by address alone.
//!
//! By address alone, ten mistakes of one client would lock out every administrator who shares its address. So that bound is
//! wide, and the narrow one is for keys that begin alike, as the guesses at one key do.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use websvc_types::ErrorCode;

use crate::response::ApiError;

/// The bytes of a key by which wrong ones are counted: `fc-` and three of its digits.
const PREFIX_BYTES: usize = 6;

/// So many addresses, and addresses with beginnings of keys, are remembered; the one that is due first is forgotten first.
const MOST: usize = 10_000;

/// The wrong keys that begin alike, of one address.
const ALIKE: Bound = Bound { burst: 10, pace: Duration::from_secs(30) };

/// The wrong keys of one address.
const ALL: Bound = Bound { burst: 300, pace: Duration::from_secs(1) };

/// How many wrong keys are nothing but mistakes, and how long it takes until one of them is forgiven.
#[derive(Debug, Clone, Copy)]
struct Bound {
    burst: u32,
    pace: Duration,
}

impl Bound {
    /// Returns how long the next key has to wait when all wrong ones will be forgiven then.
    fn wait(self, forgiven: Option<&Instant>, now: Instant) -> Duration {
        let left = forgiven.map_or(Duration::ZERO, |forgiven| forgiven.saturating_duration_since(now));
        left.saturating_sub(self.pace * (self.burst - 1))
    }

    /// Records a wrong key.
    fn record<K: Hash + Eq + Copy>(self, attempts: &mut HashMap<K, Instant>, key: K, now: Instant) {
        attempts.retain(|_, forgiven| *forgiven > now);
        if attempts.len() >= MOST && !attempts.contains_key(&key) {
            let first = attempts.iter().min_by_key(|(_, forgiven)| **forgiven).map(|(key, _)| *key);
            first.map(|first| attempts.remove(&first));
        }
        let forgiven = attempts.entry(key).or_insert(now);
        // Never further away than that: whoever stops is let in again.
        *forgiven = (*forgiven + self.pace).min(now + self.pace * self.burst);
    }
}

/// The wrong keys of late: when all of them will be forgiven.
#[derive(Debug, Default)]
pub(crate) struct SignInLimiter(Mutex<Records>);

#[derive(Debug, Default)]
struct Records {
    alike: HashMap<(IpAddr, [u8; PREFIX_BYTES]), Instant>,
    all: HashMap<IpAddr, Instant>,
}

impl SignInLimiter {
    /// Lets an address try a key, a right one too: otherwise the answer would tell right ones from wrong ones.
    ///
    /// # Errors
    /// 429 when it tried too many wrong ones.
    pub(crate) fn admit(&self, address: IpAddr, key: &str, now: Instant) -> Result<(), ApiError> {
        let records = self.lock();
        let address = network(address);
        let alike = ALIKE.wait(records.alike.get(&(address, prefix(key))), now);
        let wait = alike.max(ALL.wait(records.all.get(&address), now));
        if wait.is_zero() {
            return Ok(());
        }
        let seconds = wait.as_secs() + 1;
        let text = format!("Too many wrong keys from this address, retry after {seconds}s");
        Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(seconds))
    }

    /// Records a wrong key of an address.
    pub(crate) fn record(&self, address: IpAddr, key: &str, now: Instant) {
        let mut records = self.lock();
        let Records { alike, all } = &mut *records;
        let address = network(address);
        ALIKE.record(alike, (address, prefix(key)), now);
        ALL.record(all, address, now);
    }

    fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the beginning of a key; a shorter one is filled up.
fn prefix(key: &str) -> [u8; PREFIX_BYTES] {
    let mut prefix = [0; PREFIX_BYTES];
    prefix.iter_mut().zip(key.bytes()).for_each(|(to, byte)| *to = byte);
    prefix
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

    const KEY: &str = "fc-123456789";

    #[test]
    fn who_tries_too_many_wrong_keys_waits_and_nobody_else() {
        let (attempts, now) = (SignInLimiter::default(), Instant::now());
        let Bound { burst, pace } = ALIKE;
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        for guess in 0..burst {
            let guess = format!("fc-123{guess}");
            attempts.admit(address, &guess, now).unwrap();
            attempts.record(address, &guess, now);
        }
        let refused = attempts.admit(address, KEY, now).unwrap_err().into_response();
        assert_eq!(
            (refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()),
            (429, "31")
        );
        attempts.admit("192.0.2.2".parse().unwrap(), KEY, now).unwrap();
        attempts.admit(address, "fc-abcdef", now).expect("an administrator who shares the address");
        assert!(attempts.admit(address, KEY, now + pace - Duration::from_secs(1)).is_err());
        attempts.admit(address, KEY, now + pace).unwrap();
        attempts.record(address, KEY, now + pace);
        assert!(attempts.admit(address, KEY, now + pace).is_err());
        attempts.admit(address, KEY, now + pace * (burst + 2)).unwrap();
    }

    #[test]
    fn guesses_that_begin_differently_are_bounded_by_address() {
        let (attempts, now) = (SignInLimiter::default(), Instant::now());
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        for guess in 0..ALL.burst {
            let guess = format!("{guess:06}");
            attempts.admit(address, &guess, now).unwrap();
            attempts.record(address, &guess, now);
        }
        assert_eq!(attempts.admit(address, KEY, now).unwrap_err().status(), 429);
        attempts.admit(address, KEY, now + ALL.pace).unwrap();
        attempts.admit("192.0.2.2".parse().unwrap(), KEY, now).unwrap();
    }

    #[test]
    fn addresses_of_one_network_are_one_and_their_number_is_bounded() {
        let (attempts, now) = (SignInLimiter::default(), Instant::now());
        for number in 0..ALIKE.burst {
            attempts.record(format!("2001:db8::{number}").parse().unwrap(), KEY, now);
        }
        assert!(attempts.admit("2001:db8::ffff".parse().unwrap(), KEY, now).is_err());
        attempts.admit("2001:db8:0:1::1".parse().unwrap(), KEY, now).unwrap();
        for number in 0..u32::try_from(MOST).unwrap() + 5 {
            attempts.record(IpAddr::V4((0x0a00_0000 + number).into()), KEY, now);
        }
        let records = attempts.lock();
        assert_eq!((records.alike.len(), records.all.len()), (MOST, MOST));
    }
}
