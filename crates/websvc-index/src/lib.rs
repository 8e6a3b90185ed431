//! The embedded full-text index of websvc.
