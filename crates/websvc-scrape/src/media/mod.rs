//! Downloads the media of pages, as MP3 or as a video, with two programs of the operator: yt-dlp and ffmpeg.
//!
//! Both run in a sandbox of bubblewrap ([`websvc_sandbox::Tool`]). Their only way out is a SOCKS proxy of this process,
//! whose connections the guarded client makes, so they reach the same addresses as a fetch of a page. They see no file of
//! the machine but programs, libraries and certificates. Time, memory, sizes and the number of downloads are limited.

mod arguments;
mod cookies;
mod directory;
mod downloader;
mod failure;
mod file;
mod metrics;
mod proxy;
mod slots;

pub use arguments::{MediaKind, TlsCheck};
pub use cookies::Cookie;
pub use downloader::{Downloader, MediaConfig, MediaRequest};
pub use failure::MediaError;
pub use file::{Container, MediaFile};
pub use metrics::MediaMetrics;
pub use proxy::HostRule;
