//! How many bytes the connections of one page may carry together.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};

const BUFFER: usize = 16 * 1024;

/// Bytes that are left.
pub(super) struct Budget(AtomicU64);

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(AtomicU64::new(bytes))
    }

    /// Copies both ways until both ends are done; returns false when the budget was used up before.
    pub(super) async fn copy<A, B>(&self, near: A, far: B) -> bool
    where
        A: AsyncRead + AsyncWrite,
        B: AsyncRead + AsyncWrite,
    {
        let (mut near_read, mut near_write) = split(near);
        let (mut far_read, mut far_write) = split(far);
        let there = self.pump(&mut near_read, &mut far_write);
        let back = self.pump(&mut far_read, &mut near_write);
        let (there, back) = tokio::join!(there, back);
        there && back
    }

    async fn pump(&self, from: &mut (impl AsyncRead + Unpin), to: &mut (impl AsyncWrite + Unpin)) -> bool {
        let mut buffer = vec![0; BUFFER];
        let mut within = true;
        // A connection that breaks is its users' business.
        while let Ok(n @ 1..) = from.read(&mut buffer).await {
            within = self.take(n as u64);
            if !within || to.write_all(&buffer[..n]).await.is_err() {
                break;
            }
        }
        let _ = to.shutdown().await;
        within
    }

    fn take(&self, bytes: u64) -> bool {
        let left = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok()
    }
}
