//! One page, from its context of its own to the end of that.
//!
//! [`visit`] is above the actions and pictures, which need a [`Page`] only: so it is not re-exported from here.

mod child_targets;
mod command;
mod content;
mod cookies;
mod device;
mod downloads;
mod events;
mod inject_css;
mod intercept;
mod navigate;
mod open_page;
mod page_state;
mod script;
mod setup;
mod storage;
mod virtual_time;
pub(crate) mod visit;
mod wait_idle;
mod warm_page;

pub(crate) use device::metrics;
pub(crate) use open_page::Page;
pub(crate) use script::Outcome;
pub(crate) use warm_page::{BrowserContext, WarmPage};
