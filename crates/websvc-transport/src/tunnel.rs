//! A byte stream in both directions, for protocols other than HTTP.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// An open connection: to a host, directly or through a proxy, or from a client after an upgrade from HTTP.
pub struct Tunnel(TunnelStream);

enum TunnelStream {
    Direct(TcpStream),
    Through(AnyStream),
}

/// A boxed stream: TCP, TLS or a tunnel through a proxy. The code that uses it is compiled once for all of them.
pub(crate) type AnyStream = Box<dyn Stream>;

/// A byte stream in both directions.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Tunnel {
    pub(crate) fn direct(stream: TcpStream) -> Self {
        Self(TunnelStream::Direct(stream))
    }

    pub(crate) fn through(stream: AnyStream) -> Self {
        Self(TunnelStream::Through(stream))
    }
}

impl AsyncRead for Tunnel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            TunnelStream::Direct(stream) => Pin::new(stream).poll_read(cx, buffer),
            TunnelStream::Through(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Tunnel {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            TunnelStream::Direct(stream) => Pin::new(stream).poll_write(cx, bytes),
            TunnelStream::Through(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            TunnelStream::Direct(stream) => Pin::new(stream).poll_flush(cx),
            TunnelStream::Through(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            TunnelStream::Direct(stream) => Pin::new(stream).poll_shutdown(cx),
            TunnelStream::Through(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

impl std::fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match &self.0 {
            TunnelStream::Direct(_) => "direct",
            TunnelStream::Through(_) => "through a proxy or TLS",
        };
        f.debug_tuple("Tunnel").field(&kind).finish()
    }
}
