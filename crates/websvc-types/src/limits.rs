//! Every number of the interface by its name: schema, validation and documentation read them here.
//!
//! Sources: specification, section 2 (field tables) and section 8 (limits); what the specification leaves open is
//! marked as our own.

/// Longest `query`, in Unicode scalar values.
pub const QUERY_MAX_CHARS: u32 = 500;
/// Smallest `limit`.
pub const LIMIT_MIN: u32 = 1;
/// Largest `limit`, per source.
pub const LIMIT_MAX: u32 = 100;
/// `limit` when none is given.
pub const LIMIT_DEFAULT: u32 = 10;
/// `timeout` of a search when none is given, in milliseconds.
pub const SEARCH_TIMEOUT_DEFAULT_MS: u64 = 60_000;
/// Smallest `timeout` of a search that is refused for being too small, in milliseconds.
pub const SEARCH_TIMEOUT_MIN_MS: u64 = 1;
/// Largest `timeout` of a search, in milliseconds (our own; the largest that official clients send).
pub const SEARCH_TIMEOUT_MAX_MS: u64 = 300_000;
/// A smaller `timeout` of a search is raised to this, in milliseconds (our own: some clients send a count of results
/// times three by mistake, and a search is quicker than this anyway).
pub const SEARCH_TIMEOUT_FLOOR_MS: u64 = 1_000;
/// `country` when none is given.
pub const COUNTRY_DEFAULT: &str = "US";

/// Longest `url` of a map, in Unicode scalar values (our own).
pub const URL_MAX_CHARS: u32 = 8_192;
/// Smallest `limit` of a map.
pub const MAP_LIMIT_MIN: u32 = 1;
/// Largest `limit` of a map.
pub const MAP_LIMIT_MAX: u32 = 100_000;
/// `limit` of a map when none is given.
pub const MAP_LIMIT_DEFAULT: u32 = 5_000;
/// Largest `delay` of a map, in seconds.
pub const MAP_DELAY_MAX_S: f64 = 60.0;
/// Most items of `includePaths` and `excludePaths`, each (our own).
pub const PATH_PATTERNS_MAX: usize = 100;
/// Most memory of the compiled `includePaths` and `excludePaths` of one request, in bytes (our own).
pub const PATH_PATTERNS_MAX_BYTES: usize = 16 << 20;
/// Most memory of the different compiled path patterns of the crawls and maps of one team that run, in bytes (our own).
pub const PATH_PATTERNS_MAX_BYTES_PER_TEAM: usize = 48 << 20;
/// Most memory of the different compiled path patterns of all crawls and maps that run, in bytes (our own).
pub const PATH_PATTERNS_MAX_BYTES_TOTAL: usize = 128 << 20;
/// Longest item of `includePaths` and `excludePaths`, in Unicode scalar values (our own).
pub const PATH_PATTERN_MAX_CHARS: u32 = 1_000;

/// Smallest `scrapeOptions.timeout`, in milliseconds.
pub const SCRAPE_TIMEOUT_MIN_MS: u64 = 1_000;
/// Largest `scrapeOptions.timeout`, in milliseconds.
pub const SCRAPE_TIMEOUT_MAX_MS: u64 = 300_000;
/// `scrapeOptions.timeout` when none is given, in milliseconds.
pub const SCRAPE_TIMEOUT_DEFAULT_MS: u64 = 60_000;
/// `maxAge` when none is given, in milliseconds: two days.
pub const MAX_AGE_DEFAULT_MS: u64 = 172_800_000;
/// `maxAge` under lockdown when none is given, in milliseconds: two years of 365 days.
pub const MAX_AGE_LOCKDOWN_MS: u64 = 2 * 365 * 86_400_000;
/// Largest `maxAge` and `minAge`, in milliseconds (our own: the largest integer that every JSON parser reads exactly).
pub const AGE_MAX_MS: u64 = (1 << 53) - 1;
/// Longest CSS selector, in Unicode scalar values (our own).
pub const SELECTOR_MAX_CHARS: u32 = 2_000;
/// Largest `waitFor`, in milliseconds (our own: with the waits of all actions at most this).
pub const WAIT_TOTAL_MAX_MS: u64 = 60_000;
/// Most actions of one request (our own).
pub const ACTIONS_MAX: usize = 50;
/// Smallest `milliseconds` of a wait action.
pub const WAIT_MIN_MS: u64 = 1;
/// Smallest `quality` of a screenshot.
pub const QUALITY_MIN: u8 = 1;
/// Largest `quality` of a screenshot.
pub const QUALITY_MAX: u8 = 100;
/// Smallest side of a viewport, in pixels.
pub const VIEWPORT_MIN: u32 = 1;
/// Widest viewport, in pixels (our own).
pub const VIEWPORT_MAX_WIDTH: u32 = 7_680;
/// Highest viewport, in pixels (our own).
pub const VIEWPORT_MAX_HEIGHT: u32 = 4_320;
/// Smallest `maxPages` of the pdf parser.
pub const MAX_PAGES_MIN: u32 = 1;
/// Largest `maxPages` of the pdf parser.
pub const MAX_PAGES_MAX: u32 = 10_000;
/// Shortest `profile.name`, in Unicode scalar values.
pub const PROFILE_NAME_MIN_CHARS: u32 = 1;
/// Longest `profile.name`, in Unicode scalar values.
pub const PROFILE_NAME_MAX_CHARS: u32 = 128;
/// Longest `auditMetadata.username`, in Unicode scalar values.
pub const USERNAME_MAX_CHARS: u32 = 1_024;
/// Shortest `question` and highlights `query`, in Unicode scalar values (our own: an empty one asks nothing).
pub const QUESTION_MIN_CHARS: u32 = 1;
/// Longest `question` and highlights `query`, in Unicode scalar values.
pub const QUESTION_MAX_CHARS: u32 = 10_000;
/// Shortest `prompt` where one is needed, in Unicode scalar values (our own).
pub const PROMPT_MIN_CHARS: u32 = 1;
/// Longest `prompt` of a crawl and of the json and changeTracking formats, in Unicode scalar values (our own).
pub const PROMPT_MAX_CHARS: u32 = 10_000;
/// Most parts of a JSON Schema, counted as often as references lead to them; recursion counts once (our own).
pub const SCHEMA_PARTS_MAX: u64 = 50_000;
/// Most levels of a JSON Schema with its references followed (our own).
pub const SCHEMA_FOLLOWED_LEVELS_MAX: u64 = 512;
/// Most parts of a JSON Schema that references point to (our own).
pub const SCHEMA_REFERENCED_MAX: usize = 1_000;
/// Most different regular expressions of a JSON Schema (our own).
pub const SCHEMA_PATTERNS_MAX: usize = 100;
/// Most items of `blacklist`, `whitelist` and `blockedTlds`, each.
pub const THREAT_LIST_MAX: u32 = 1_000;
/// Smallest `riskScoreThreshold`.
pub const RISK_SCORE_MIN: u8 = 0;
/// The `riskScoreThreshold` where neither the request nor its team has one.
pub const RISK_SCORE_DEFAULT: u8 = 75;
/// Largest `riskScoreThreshold`.
pub const RISK_SCORE_MAX: u8 = 100;
/// Most items of `includeDomains` and `excludeDomains`, each (our own).
pub const DOMAINS_MAX: usize = 1_000;

/// Longest tag of a language, in characters (RFC 5646, section 4.4.1).
pub const LANGUAGE_MAX_CHARS: u32 = 35;
/// Most `languages` of a location (our own).
pub const LANGUAGES_MAX: usize = 20;
/// Longest `headers` of a scrape, names and values in all, in bytes (our own).
pub const HEADERS_MAX_BYTES: usize = 64 * 1024;
/// Most violations that one answer lists (our own).
pub const VIOLATIONS_MAX: usize = 1_000;
/// Most warnings about a request that one answer lists (our own).
pub const WARNINGS_MAX: usize = 50;

/// Largest side of an indexed image, in pixels (our own).
pub const IMAGE_SIDE_MAX: u32 = 1_000_000;
/// Longest `query` of an ordering of texts, in Unicode scalar values (our own).
pub const QUERY_RERANK_MAX_CHARS: u32 = 10_000;
/// Most different words of a query by which texts and passages are ordered; further ones do not count (our own).
pub const QUERY_TERMS_MAX: usize = 64;
/// Fewest texts that are ordered.
pub const RERANK_DOCUMENTS_MIN: usize = 1;
/// Most texts that are ordered (our own).
pub const RERANK_DOCUMENTS_MAX: usize = 1_000;
/// Largest request body, in bytes (our own).
pub const BODY_MAX_BYTES: usize = 10 * 1024 * 1024;
/// Largest uploaded file, in bytes (clients.md, section 2.12).
pub const UPLOAD_MAX_BYTES: u64 = 50 * 1024 * 1024;
/// Largest `options` beside an uploaded file, in bytes (our own).
pub const UPLOAD_OPTIONS_MAX_BYTES: usize = 1024 * 1024;
/// How long the result of a scrape can be asked for again, in seconds (our own).
pub const SCRAPE_RESULT_LIFETIME_S: u64 = 3_600;
/// Life of a screenshot's URL, in seconds.
pub const SCREENSHOT_LIFETIME_S: u64 = 24 * 3_600;
/// Life of an audio or video URL, in seconds.
pub const MEDIA_LIFETIME_S: u64 = 3_600;

/// Fewest `urls` of a batch.
pub const BATCH_URLS_MIN: usize = 1;
/// Most `urls` of a batch (our own).
pub const BATCH_URLS_MAX: usize = 10_000;
/// Smallest `maxConcurrency` of a job.
pub const JOB_CONCURRENCY_MIN: u32 = 1;
/// Largest `maxConcurrency` of a job (our own).
pub const JOB_CONCURRENCY_MAX: u32 = 1_000;
/// Documents in one answer about a job, at most and by default.
pub const JOB_PAGE_DOCUMENTS: u64 = 100;
/// Bytes of the documents in one answer about a job; a larger document comes alone.
pub const JOB_PAGE_BYTES: u64 = 10 * 1024 * 1024;
/// Bytes of the documents in one frame of a socket about a job; a larger document comes alone (our own).
pub const SOCKET_PAGE_BYTES: u64 = 1024 * 1024;
/// Most entries of one answer about what a job could not get (our own).
pub const JOB_ERRORS_MAX: usize = 10_000;
/// Smallest `limit` of a crawl.
pub const CRAWL_LIMIT_MIN: u64 = 1;
/// `limit` of a crawl when none is given.
pub const CRAWL_LIMIT_DEFAULT: u64 = 10_000;
/// Largest `limit` of a crawl (our own).
pub const CRAWL_LIMIT_MAX: u64 = 1_000_000;
/// Largest `delay` of a crawl, in seconds.
pub const CRAWL_DELAY_MAX_S: f64 = 60.0;
/// Most `includePaths` and `excludePaths` of a crawl, each (our own).
pub const CRAWL_PATTERNS_MAX: usize = 100;
/// Longest regular expression of a crawl, in bytes (our own).
pub const CRAWL_PATTERN_MAX_BYTES: usize = 2_000;
/// Largest `metadata` of a webhook, in bytes of JSON (our own).
pub const WEBHOOK_METADATA_MAX_BYTES: usize = 16 * 1024;
/// Most dead letters in one answer (our own).
pub const DEAD_LETTERS_MAX: u64 = 1_000;
/// Dead letters in one answer when no `limit` is given (our own).
pub const DEAD_LETTERS_DEFAULT: u64 = 100;
/// Longest `x-idempotency-key`, in characters (our own).
pub const IDEMPOTENCY_KEY_MAX_CHARS: usize = 256;

/// Most characters of the name of a crawl (our own).
pub const CRAWL_ID_MAX_CHARS: u32 = 64;

/// Most hosts that a crawl names (our own).
pub const CRAWL_HOSTS_MAX: usize = 16;

/// The most characters of a host that a crawl tells of.
pub const CRAWL_HOST_MAX_CHARS: u32 = 255;
