//! Integration tests of monitors with a virtual clock.

mod schedule;
