//! The program as its users drive it: processes, HTTP, official clients, real pages.

mod bad_input;
mod corpus;
mod crash;
mod demo;
mod harness;
mod indexing;
mod keys;
mod scraping;
mod sdk;
mod serving;
