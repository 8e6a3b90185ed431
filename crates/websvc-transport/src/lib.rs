//! HTTP for websvc: a server with limits and drain, a client behind an address guard, over hyper and rustls.
