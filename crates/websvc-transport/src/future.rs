//! Futures of unnamed types.

use std::future::Future;
use std::pin::Pin;

/// A future of an unnamed type, on the heap.
///
/// The entry points of the crates return their futures so. The code of such a future is compiled in the crate of its
/// entry point, once, and not again in every crate that awaits it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
