//! Boxed futures.

use std::future::Future;
use std::pin::Pin;

/// A boxed future.
///
/// The entry points of the crates return boxed futures. The code of such a future is compiled once, in the crate of its
/// entry point, instead of again in every crate that awaits it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
