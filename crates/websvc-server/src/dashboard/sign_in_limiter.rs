//! The limit of wrong keys and invitations per client address, so that keys of the configuration cannot be guessed.
//!
//! There are two limits. The narrow one applies to an address and the first characters of the key, because guesses at one
//! key begin alike. The wide one applies to an address alone: if it were narrow, ten mistakes of one client would lock
//! out every administrator with the same address.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use websvc_types::ErrorCode;

use crate::response::ApiError;
use crate::token_bucket::{BucketSize, TokenBucket};

/// The length of the prefix of a key: `fc-` and three of its digits.
const PREFIX_BYTES: usize = 6;

/// The maximum number of stored buckets of each kind. Beyond that, the bucket that will be full first is removed.
const MAX_BUCKETS: usize = 10_000;

/// The limit of wrong keys with the same prefix from one address.
const PER_PREFIX: BucketSize = BucketSize { capacity: 10, interval: Duration::from_secs(30) };

/// The limit of wrong keys from one address.
const PER_ADDRESS: BucketSize = BucketSize { capacity: 300, interval: Duration::from_secs(1) };

/// The token buckets of recent wrong keys.
#[derive(Debug, Default)]
pub(crate) struct SignInLimiter(Mutex<Buckets>);

#[derive(Debug, Default)]
struct Buckets {
    by_prefix: HashMap<(IpAddr, [u8; PREFIX_BYTES]), TokenBucket>,
    by_address: HashMap<IpAddr, TokenBucket>,
}

impl SignInLimiter {
    /// Checks that an address may try a key. The limit applies to correct keys, too: otherwise the response would reveal
    /// whether a key is correct.
    ///
    /// # Errors
    /// 429 after too many wrong keys.
    pub(crate) fn admit(&self, address: IpAddr, key: &str, now: Instant) -> Result<(), ApiError> {
        let buckets = self.0.lock();
        let address = network(address);
        let by_prefix = buckets.by_prefix.get(&(address, prefix(key))).copied().unwrap_or_default();
        let by_address = buckets.by_address.get(&address).copied().unwrap_or_default();
        let wait =
            by_prefix.until_available(PER_PREFIX, now).max(by_address.until_available(PER_ADDRESS, now));
        if wait.is_zero() {
            return Ok(());
        }
        let seconds = wait.as_secs() + 1;
        let text = format!("Too many attempts from this address, retry after {seconds}s");
        Err(ApiError::new(ErrorCode::RateLimited, text).retry_after(seconds))
    }

    /// Records a wrong key from an address.
    pub(crate) fn record(&self, address: IpAddr, key: &str, now: Instant) {
        let mut buckets = self.0.lock();
        let address = network(address);
        take(&mut buckets.by_prefix, (address, prefix(key)), PER_PREFIX, now);
        take(&mut buckets.by_address, address, PER_ADDRESS, now);
    }
}

/// Takes a token out of a bucket, and removes full ones.
fn take<K: Hash + Eq + Copy>(buckets: &mut HashMap<K, TokenBucket>, key: K, size: BucketSize, now: Instant) {
    buckets.retain(|_, bucket| !bucket.is_full(now));
    if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&key) {
        let first = buckets.iter().min_by_key(|(_, bucket)| bucket.full_at()).map(|(key, _)| *key);
        first.map(|first| buckets.remove(&first));
    }
    buckets.entry(key).or_default().take(size, now);
}

/// Returns the prefix of a key; a shorter key is padded with zeros.
fn prefix(key: &str) -> [u8; PREFIX_BYTES] {
    let mut prefix = [0; PREFIX_BYTES];
    prefix.iter_mut().zip(key.bytes()).for_each(|(to, byte)| *to = byte);
    prefix
}

/// Returns the address by which a client is limited: for IPv6, its network of 64 bits.
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
    fn wrong_keys_with_the_same_prefix_block_that_prefix_for_their_address_only() {
        let (limiter, now) = (SignInLimiter::default(), Instant::now());
        let BucketSize { capacity, interval } = PER_PREFIX;
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        for guess in 0..capacity {
            let guess = format!("fc-123{guess}");
            limiter.admit(address, &guess, now).unwrap();
            limiter.record(address, &guess, now);
        }
        let rejected = limiter.admit(address, KEY, now).unwrap_err().into_response();
        assert_eq!(
            (rejected.status().as_u16(), rejected.headers()["retry-after"].to_str().unwrap()),
            (429, "31")
        );
        limiter.admit("192.0.2.2".parse().unwrap(), KEY, now).unwrap();
        limiter.admit(address, "fc-abcdef", now).expect("an administrator with the same address");
        assert!(limiter.admit(address, KEY, now + interval - Duration::from_secs(1)).is_err());
        limiter.admit(address, KEY, now + interval).unwrap();
        limiter.record(address, KEY, now + interval);
        assert!(limiter.admit(address, KEY, now + interval).is_err());
        limiter.admit(address, KEY, now + interval * (capacity + 2)).unwrap();
    }

    #[test]
    fn wrong_keys_with_different_prefixes_are_limited_by_address() {
        let (limiter, now) = (SignInLimiter::default(), Instant::now());
        let address: IpAddr = "192.0.2.1".parse().unwrap();
        for guess in 0..PER_ADDRESS.capacity {
            let guess = format!("{guess:06}");
            limiter.admit(address, &guess, now).unwrap();
            limiter.record(address, &guess, now);
        }
        assert_eq!(limiter.admit(address, KEY, now).unwrap_err().status(), 429);
        limiter.admit(address, KEY, now + PER_ADDRESS.interval).unwrap();
        limiter.admit("192.0.2.2".parse().unwrap(), KEY, now).unwrap();
    }

    #[test]
    fn addresses_of_one_ipv6_network_share_a_limit_and_the_number_of_buckets_is_bounded() {
        let (limiter, now) = (SignInLimiter::default(), Instant::now());
        for number in 0..PER_PREFIX.capacity {
            limiter.record(format!("2001:db8::{number}").parse().unwrap(), KEY, now);
        }
        assert!(limiter.admit("2001:db8::ffff".parse().unwrap(), KEY, now).is_err());
        limiter.admit("2001:db8:0:1::1".parse().unwrap(), KEY, now).unwrap();
        for number in 0..u32::try_from(MAX_BUCKETS).unwrap() + 5 {
            limiter.record(IpAddr::V4((0x0a00_0000 + number).into()), KEY, now);
        }
        let buckets = limiter.0.lock();
        assert_eq!((buckets.by_prefix.len(), buckets.by_address.len()), (MAX_BUCKETS, MAX_BUCKETS));
    }
}
