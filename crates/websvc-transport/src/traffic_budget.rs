//! A limit on the bytes of several connections together, such as those of one page.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};

const BUFFER_BYTES: usize = 16 * 1024;

/// The bytes that connections may still send and receive together.
#[derive(Debug)]
pub struct TrafficBudget(AtomicU64);

impl TrafficBudget {
    /// Creates a budget.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    /// Copies in both directions until both ends are done. Returns false if the budget was used up before.
    pub async fn copy<A, B>(&self, near: A, far: B) -> bool
    where
        A: AsyncRead + AsyncWrite,
        B: AsyncRead + AsyncWrite,
    {
        let (mut near_read, mut near_write) = split(near);
        let (mut far_read, mut far_write) = split(far);
        let outgoing = self.pump(&mut near_read, &mut far_write);
        let incoming = self.pump(&mut far_read, &mut near_write);
        let (outgoing, incoming) = tokio::join!(outgoing, incoming);
        outgoing && incoming
    }

    /// Copies in one direction. Returns false if the budget was used up.
    async fn pump(&self, from: &mut (impl AsyncRead + Unpin), to: &mut (impl AsyncWrite + Unpin)) -> bool {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut is_within = true;
        // An error on either side ends the connection, as it would without a proxy.
        while let Ok(n @ 1..) = from.read(&mut buffer).await {
            is_within = self.take(n as u64);
            if !is_within || to.write_all(&buffer[..n]).await.is_err() {
                break;
            }
        }
        let _ = to.shutdown().await;
        is_within
    }

    /// Takes bytes from the budget; returns false if too few are left.
    fn take(&self, bytes: u64) -> bool {
        let subtract = |remaining: u64| remaining.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract).is_ok()
    }
}
