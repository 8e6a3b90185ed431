//! End-to-end tests of the `websvc` program: its processes, its HTTP API, official clients and real pages.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking and print what they skip"
)]

mod access;
mod adapters;
mod agent;
mod agent_evaluation;
mod archives;
mod artifacts;
mod attributes;
mod audit;
mod backup;
mod bad_input;
mod batch;
mod batch_command;
mod blocklists;
#[cfg(target_os = "linux")]
mod bombs;
mod branding;
mod browser;
mod browser_sessions;
mod cache;
mod canary;
mod change_tracking;
mod clock;
mod cluster;
mod corpus;
mod crash;
mod crawl_command;
#[cfg(target_os = "linux")]
mod crawl_proof;
mod crawling;
mod credits;
mod dashboard;
mod deadline;
mod demo;
mod doctor;
mod document_pages;
mod documentation;
mod documents;
mod durable;
mod elastic;
mod elastic_only;
mod eval;
mod exporting;
mod extract;
mod extras;
mod harness;
mod indexing;
mod keys;
mod maintenance;
mod map;
#[cfg(target_os = "linux")]
mod media;
mod metrics_listen;
mod model;
mod monitor_command;
mod monitors;
mod oidc;
mod operating;
mod outbox;
mod overload;
mod page_api;
mod parsing;
mod path_patterns;
mod product_and_menu;
mod profiles;
mod recipe;
mod redaction;
mod reference;
mod refused_address;
mod retention;
mod scraping;
mod sdk;
mod secrets;
mod security;
mod semantic;
mod serving;
mod sources;
mod store;
mod team_pages;
mod telemetry;
mod threat;
mod threat_jobs;
mod threat_rendered;
mod threat_values;
mod verticals;
mod webhooks;
mod websocket;
