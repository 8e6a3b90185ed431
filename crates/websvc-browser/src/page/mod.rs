//! One page in a browser context of its own, from its creation to its end.
//!
//! [`visit`] uses the actions and screenshots, which in turn use [`Page`]. It is therefore not re-exported from here.

mod charset;
mod child_targets;
mod command;
mod content;
mod cookies;
mod correct_charset;
mod device;
mod downloads;
mod events;
mod inject_css;
mod interactive;
mod intercept;
mod navigate;
mod open_page;
mod page_state;
mod script;
mod setup;
mod storage;
mod styles;
mod virtual_time;
pub(crate) mod visit;
mod wait_idle;
mod warm_page;

pub(crate) use device::device_metrics;
pub(crate) use interactive::ClientChange;
pub(crate) use open_page::Page;
pub(crate) use script::ScriptOutcome;
pub(crate) use warm_page::{BrowserContext, WarmPage};
