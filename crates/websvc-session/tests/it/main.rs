//! Tests of the parts of browser sessions that need no browser.

mod page_agent;
