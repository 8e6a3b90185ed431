//! The operations as HTTP sees them: a request to a reply, one file each.

mod artifact;
mod body;
pub(crate) mod docs;
mod index;
mod metrics;
mod search;
mod status;

pub(crate) use artifact::artifact;
pub(crate) use docs::docs;
pub(crate) use index::{add_documents, index_stats};
pub(crate) use metrics::metrics;
pub(crate) use search::search;
pub(crate) use status::{health, openapi, ready, root};
