//! TLS of the connections to a PostgreSQL server.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use url::Host;
use websvc_transport::{BoxFuture, Client, FetchError, Tunnel};

/// Starts TLS on a connection to a host.
pub(super) struct Tls {
    pub(super) client: Client,
    pub(super) host: Host,
    /// Time for the handshake.
    pub(super) limit: Duration,
}

impl TlsConnect<Tunnel> for Tls {
    type Stream = EncryptedStream;
    type Error = FetchError;
    type Future = BoxFuture<'static, Result<EncryptedStream, FetchError>>;

    fn connect(self, stream: Tunnel) -> Self::Future {
        Box::pin(
            async move { self.client.start_tls(stream, &self.host, self.limit).await.map(EncryptedStream) },
        )
    }
}

/// A stream with TLS.
pub(super) struct EncryptedStream(Tunnel);

impl TlsStream for EncryptedStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
