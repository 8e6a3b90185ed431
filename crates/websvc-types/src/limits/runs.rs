//! Limits and defaults of agent runs and extractions.

/// Minimum length of the `prompt` of an agent run, in Unicode scalar values (operations.md, section 4.1).
pub const AGENT_PROMPT_MIN_CHARS: u32 = 1;
/// Maximum length of the `prompt` of an agent run, in Unicode scalar values.
pub const AGENT_PROMPT_MAX_CHARS: u32 = 10_000;
/// Maximum number of `urls` of an agent run (not specified).
pub const AGENT_URLS_MAX: usize = 100;
/// Minimum of `maxCredits` of an agent run.
pub const AGENT_CREDITS_MIN: u64 = 1;
/// Default of `maxCredits` of an agent run.
pub const AGENT_CREDITS_DEFAULT: u64 = 2_500;
/// Maximum of `maxCredits` of an agent run (not specified).
pub const AGENT_CREDITS_MAX: u64 = 1_000_000;
/// Maximum length of the `model` of an agent run, in Unicode scalar values (not specified).
pub const AGENT_MODEL_MAX_CHARS: u32 = 128;
/// Maximum length of `origin` and `integration` of an agent run that are stored, in Unicode scalar values (not
/// specified). Longer ones are cut.
pub const AGENT_ORIGIN_MAX_CHARS: usize = 128;
/// Number of runs in a page of the list of agent runs.
pub const AGENT_LIST_LIMIT: u64 = 20;
/// Maximum length of `targetHint` of an agent run, in Unicode scalar values (not specified).
pub const AGENT_HINT_MAX_CHARS: usize = 100;
/// Maximum number of events of an agent run (not specified). Later ones are left out, except the end of the run.
pub const AGENT_EVENTS_MAX: u64 = 1_000;
/// Maximum size of the events and snapshots of an agent run, in bytes (not specified). Later ones are left out, except
/// the end of the run.
pub const AGENT_TRACE_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of agent runs of a team that wait or work (not specified).
pub const AGENT_RUNS_OPEN_MAX: u64 = 100;
/// Maximum number of stored agent runs of a team (not specified).
pub const AGENT_RUNS_STORED_MAX: u64 = 10_000;
/// Maximum number of turns of a thread that a run knows (not specified): the last ones.
pub const AGENT_TURNS_MAX: usize = 10;
/// Maximum number of `urls` of an extraction (operations.md, section 5.1).
pub const EXTRACT_URLS_MAX: usize = 10;
/// Maximum length of `prompt` and `systemPrompt` of an extraction, in Unicode scalar values.
pub const EXTRACT_PROMPT_MAX_CHARS: u32 = 10_000;
/// Minimum of `limit` of an extraction.
pub const EXTRACT_LIMIT_MIN: u32 = 1;
/// Default of `limit` of an extraction (not specified).
pub const EXTRACT_LIMIT_DEFAULT: u32 = 10;
/// Maximum number of pages of a site or a search that an extraction reads (not specified). A larger `limit` counts as this.
pub const EXTRACT_LIMIT_MAX: u32 = 100;
/// Maximum number of pages that an extraction reads (not specified).
pub const EXTRACT_PAGES_MAX: usize = 100;
/// Minimum of `timeout` of an extraction, in milliseconds.
pub const EXTRACT_TIMEOUT_MIN_MS: u64 = 1_000;
/// Maximum of `timeout` of an extraction, in milliseconds (not specified).
pub const EXTRACT_TIMEOUT_MAX_MS: u64 = 86_400_000;
