//! Limits and defaults of the interface, by name. Schemas, validation and documentation use these constants.
//!
//! They come from the specification, section 2 (field tables) and section 8 (limits). "Not specified" marks a value
//! that the specification leaves open and websvc chose.
//!
//! ```
//! use websvc_types::limits;
//!
//! assert_eq!((limits::LIMIT_MIN, limits::LIMIT_DEFAULT, limits::LIMIT_MAX), (1, 10, 100));
//! ```

mod runs;

pub use runs::*;

/// Maximum length of `query`, in Unicode scalar values.
pub const QUERY_MAX_CHARS: u32 = 500;
/// Minimum of `limit`.
pub const LIMIT_MIN: u32 = 1;
/// Maximum of `limit`, per source.
pub const LIMIT_MAX: u32 = 100;
/// Default of `limit`.
pub const LIMIT_DEFAULT: u32 = 10;
/// Default `timeout` of a search, in milliseconds.
pub const SEARCH_TIMEOUT_DEFAULT_MS: u64 = 60_000;
/// Minimum `timeout` of a search, in milliseconds; a smaller value is an error.
pub const SEARCH_TIMEOUT_MIN_MS: u64 = 1;
/// Maximum `timeout` of a search, in milliseconds (not specified; the largest value that official clients send).
pub const SEARCH_TIMEOUT_MAX_MS: u64 = 300_000;
/// Lower bound to which a smaller `timeout` of a search is raised, in milliseconds (not specified).
///
/// Some clients send three times the number of results by mistake, and a search is faster than this anyway.
pub const SEARCH_TIMEOUT_FLOOR_MS: u64 = 1_000;
/// Default of `country`.
pub const COUNTRY_DEFAULT: &str = "US";

/// Maximum length of a URL, in Unicode scalar values (not specified).
pub const URL_MAX_CHARS: u32 = 8_192;
/// Minimum of `limit` of a map.
pub const MAP_LIMIT_MIN: u32 = 1;
/// Maximum of `limit` of a map.
pub const MAP_LIMIT_MAX: u32 = 100_000;
/// Default `limit` of a map.
pub const MAP_LIMIT_DEFAULT: u32 = 5_000;
/// Maximum of `delay` of a map, in seconds.
pub const MAP_DELAY_MAX_S: f64 = 60.0;
/// Maximum number of items of `includePaths` and `excludePaths`, each (not specified).
pub const PATH_PATTERNS_MAX: usize = 100;
/// Maximum memory of the compiled `includePaths` and `excludePaths` of one request, in bytes (not specified).
pub const PATH_PATTERNS_MAX_BYTES: usize = 16 << 20;
/// Maximum memory of the distinct compiled path patterns of all running crawls and maps of a team, in bytes (not
/// specified).
pub const PATH_PATTERNS_MAX_BYTES_PER_TEAM: usize = 48 << 20;
/// Maximum memory of the distinct compiled path patterns of all running crawls and maps, in bytes (not specified).
pub const PATH_PATTERNS_MAX_BYTES_TOTAL: usize = 128 << 20;
/// Maximum length of an item of `includePaths` and `excludePaths`, in Unicode scalar values (not specified).
pub const PATH_PATTERN_MAX_CHARS: u32 = 1_000;

/// Minimum of `scrapeOptions.timeout`, in milliseconds.
pub const SCRAPE_TIMEOUT_MIN_MS: u64 = 1_000;
/// Maximum of `scrapeOptions.timeout`, in milliseconds.
pub const SCRAPE_TIMEOUT_MAX_MS: u64 = 300_000;
/// Default of `scrapeOptions.timeout`, in milliseconds.
pub const SCRAPE_TIMEOUT_DEFAULT_MS: u64 = 60_000;
/// Default of `maxAge`, in milliseconds: two days.
pub const MAX_AGE_DEFAULT_MS: u64 = 172_800_000;
/// Default of `maxAge` under lockdown, in milliseconds: two years of 365 days.
pub const MAX_AGE_LOCKDOWN_MS: u64 = 2 * 365 * 86_400_000;
/// Maximum of `maxAge` and `minAge`, in milliseconds (not specified: the
/// largest integer that every JSON parser reads exactly).
pub const AGE_MAX_MS: u64 = (1 << 53) - 1;
/// Maximum length of a CSS selector, in Unicode scalar values (not specified).
pub const SELECTOR_MAX_CHARS: u32 = 2_000;
/// Maximum number of selectors of the format `attributes` (not specified).
pub const ATTRIBUTE_SELECTORS_MAX: usize = 50;
/// Maximum number of values of one selector of the format `attributes` (not specified).
pub const ATTRIBUTE_VALUES_MAX: usize = 10_000;
/// Maximum size of all values of the format `attributes` of a page, in bytes (not specified).
pub const ATTRIBUTE_VALUES_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Maximum length of the name of an attribute, in Unicode scalar values (not specified).
pub const ATTRIBUTE_NAME_MAX_CHARS: u32 = 200;
/// Maximum of `waitFor` and the waits of all actions together, in milliseconds (not specified).
pub const WAIT_TOTAL_MAX_MS: u64 = 60_000;
/// Maximum number of actions of one request (not specified).
pub const ACTIONS_MAX: usize = 50;
/// Minimum of `milliseconds` of a wait action.
pub const WAIT_MIN_MS: u64 = 1;
/// Minimum of `quality` of a screenshot.
pub const QUALITY_MIN: u8 = 1;
/// Maximum of `quality` of a screenshot.
pub const QUALITY_MAX: u8 = 100;
/// Minimum width and height of a viewport, in pixels.
pub const VIEWPORT_MIN: u32 = 1;
/// Maximum width of a viewport, in pixels (not specified).
pub const VIEWPORT_MAX_WIDTH: u32 = 7_680;
/// Maximum height of a viewport, in pixels (not specified).
pub const VIEWPORT_MAX_HEIGHT: u32 = 4_320;
/// Minimum of `maxPages` of the pdf parser.
pub const MAX_PAGES_MIN: u32 = 1;
/// Maximum of `maxPages` of the pdf parser.
pub const MAX_PAGES_MAX: u32 = 10_000;
/// Minimum length of `profile.name`, in Unicode scalar values.
pub const PROFILE_NAME_MIN_CHARS: u32 = 1;
/// Maximum length of `profile.name`, in Unicode scalar values.
pub const PROFILE_NAME_MAX_CHARS: u32 = 128;
/// Maximum length of `auditMetadata.username`, in Unicode scalar values.
pub const USERNAME_MAX_CHARS: u32 = 1_024;
/// Minimum length of `question` and highlights `query`, in Unicode scalar values (not specified: an empty
/// one has no meaning).
pub const QUESTION_MIN_CHARS: u32 = 1;
/// Maximum length of `question` and highlights `query`, in Unicode scalar values.
pub const QUESTION_MAX_CHARS: u32 = 10_000;
/// Minimum length of a required `prompt`, in Unicode scalar values (not specified).
pub const PROMPT_MIN_CHARS: u32 = 1;
/// Maximum length of `prompt` of a crawl and of the json and changeTracking formats, in Unicode scalar values (not
/// specified).
pub const PROMPT_MAX_CHARS: u32 = 10_000;
/// Maximum length of `tag` of the format changeTracking, in Unicode scalar values (not specified).
pub const CHANGE_TAG_MAX_CHARS: u32 = 256;
/// Maximum number of lines in a diff of the format changeTracking (not specified).
pub const DIFF_MAX_LINES: usize = 10_000;
/// Maximum size of the lines in a diff of the format changeTracking, in bytes (not specified).
pub const DIFF_MAX_BYTES: usize = 1024 * 1024;
/// Maximum size of a JSON Schema, written as JSON without blanks, in bytes (not specified).
pub const SCHEMA_MAX_BYTES: usize = 256 * 1024;
/// Maximum nesting of a JSON Schema as it is written (not specified). Programs that walk it by recursion have a limited
/// stack.
pub const SCHEMA_LEVELS_MAX: usize = 64;
/// Maximum number of parts of a JSON Schema. A part counts once per reference to it; recursion counts once (not
/// specified).
pub const SCHEMA_PARTS_MAX: u64 = 50_000;
/// Maximum nesting of a JSON Schema, references followed (not specified).
pub const SCHEMA_FOLLOWED_LEVELS_MAX: u64 = 512;
/// Maximum number of parts of a JSON Schema that are targets of references (not specified).
pub const SCHEMA_REFERENCED_MAX: usize = 1_000;
/// Maximum number of distinct regular expressions of a JSON Schema (not specified).
pub const SCHEMA_PATTERNS_MAX: usize = 100;
/// Maximum size of a compiled regular expression of a JSON Schema, in bytes (not specified).
pub const SCHEMA_PATTERN_MAX_BYTES: usize = 1024 * 1024;
/// Maximum size of all compiled regular expressions of a JSON Schema, in bytes. Each may take an equal part of it (not
/// specified).
pub const SCHEMA_PATTERNS_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of items of `blacklist`, `whitelist` and `blockedTlds`, each.
pub const THREAT_LIST_MAX: u32 = 1_000;
/// Minimum of `riskScoreThreshold`.
pub const RISK_SCORE_MIN: u8 = 0;
/// Default of `riskScoreThreshold`, if neither the request nor the team sets it.
pub const RISK_SCORE_DEFAULT: u8 = 75;
/// Maximum of `riskScoreThreshold`.
pub const RISK_SCORE_MAX: u8 = 100;
/// Maximum length of `robotsUserAgent` of a crawl, in characters (not specified).
pub const ROBOTS_AGENT_MAX_CHARS: u32 = 256;
/// Maximum number of items of `includeDomains` and `excludeDomains`, each (not specified).
pub const DOMAINS_MAX: usize = 1_000;

/// Maximum length of a language tag, in characters (RFC 5646, section 4.4.1).
pub const LANGUAGE_MAX_CHARS: u32 = 35;
/// Maximum number of `languages` of a location (not specified).
pub const LANGUAGES_MAX: usize = 20;
/// Maximum size of the `headers` of a scrape, all names and values together, in bytes (not specified).
pub const HEADERS_MAX_BYTES: usize = 64 * 1024;
/// Maximum number of violations in a response (not specified).
pub const VIOLATIONS_MAX: usize = 1_000;
/// Maximum number of warnings in a response (not specified).
pub const WARNINGS_MAX: usize = 50;

/// Maximum width and height of an indexed image, in pixels (not specified).
pub const IMAGE_SIDE_MAX: u32 = 1_000_000;
/// Maximum length of the `query` of a rerank request, in Unicode scalar values (not specified).
pub const QUERY_RERANK_MAX_CHARS: u32 = 10_000;
/// Maximum number of distinct query words that rank texts and passages; further words are ignored (not specified).
pub const QUERY_TERMS_MAX: usize = 64;
/// Maximum number of URLs of a request of Open WebUI's web loader, which sends as many at a time (not specified).
pub const LOAD_URLS_MAX: usize = 20;
/// Minimum number of texts of a rerank request.
pub const RERANK_DOCUMENTS_MIN: usize = 1;
/// Maximum number of texts of a rerank request (not specified).
pub const RERANK_DOCUMENTS_MAX: usize = 1_000;
/// Maximum size of a request body, in bytes: of requests that may contain thousands of URLs, or texts (not specified).
pub const BODY_MAX_BYTES: usize = 10 * 1024 * 1024;
/// Maximum size of the body of a request for one page, search, crawl, run or session, in bytes (not specified).
pub const BODY_OPTIONS_MAX_BYTES: usize = 1024 * 1024;
/// Maximum size of the body of a request with a few short fields, in bytes (not specified).
pub const BODY_SHORT_MAX_BYTES: usize = 64 * 1024;
/// Maximum size of the body of a request with a token or a key, in bytes (not specified).
pub const BODY_TOKEN_MAX_BYTES: usize = 4 * 1024;
/// Maximum number of values and field names in a JSON body that has fewer than [`BODY_BYTES_PER_VALUE`] bytes for each.
/// In memory a short value takes many times as much as in the body (not specified).
pub const BODY_VALUES_MAX: usize = 20_000;
/// Minimum number of bytes per value and field name of a JSON body with more than [`BODY_VALUES_MAX`] of them (not
/// specified).
pub const BODY_BYTES_PER_VALUE: usize = 48;
/// Maximum number of documents of one upload to the index (not specified).
pub const INDEX_DOCUMENTS_MAX: usize = 10_000;
/// Minimum number of bytes per value and field name of an upload to the index with more than [`BODY_VALUES_MAX`] of them:
/// documents have many short links (not specified).
pub const INDEX_BYTES_PER_VALUE: usize = 8;
/// Maximum size of an uploaded file, in bytes (clients.md, section 2.12).
pub const UPLOAD_MAX_BYTES: u64 = 50 * 1024 * 1024;
/// Maximum size of the `options` of an uploaded file, in bytes (not specified).
pub const UPLOAD_OPTIONS_MAX_BYTES: usize = 1024 * 1024;
/// Maximum length of the name of a file for which an upload URL is requested, in characters (as upstream).
pub const UPLOAD_FILE_NAME_MAX_CHARS: u32 = 512;
/// Maximum length of the media type of a file for which an upload URL is requested, in characters (as upstream).
pub const UPLOAD_MEDIA_TYPE_MAX_CHARS: u32 = 255;
/// Maximum length of the reference of an uploaded file, in characters (not specified).
pub const UPLOAD_REF_MAX_CHARS: u32 = 2048;
/// Lifetime of an upload URL and of the file that was sent to it, in seconds (as upstream).
pub const UPLOAD_URL_LIFETIME_S: u64 = 600;
/// Maximum number of upload URLs of a team whose files are not converted yet (as upstream).
pub const UPLOAD_URLS_MAX: usize = 10;
/// Time for which the response of a scrape can be read again, in seconds (not specified).
pub const SCRAPE_RESULT_LIFETIME_S: u64 = 3_600;
/// Lifetime of the URL of a screenshot, in seconds.
pub const SCREENSHOT_LIFETIME_S: u64 = 24 * 3_600;

/// Minimum number of `urls` of a batch.
pub const BATCH_URLS_MIN: usize = 1;
/// Maximum number of `urls` of a batch (not specified).
pub const BATCH_URLS_MAX: usize = 10_000;
/// Minimum of `maxConcurrency` of a job.
pub const JOB_CONCURRENCY_MIN: u32 = 1;
/// Maximum of `maxConcurrency` of a job (not specified).
pub const JOB_CONCURRENCY_MAX: u32 = 1_000;
/// Maximum and default number of documents in a job status response.
pub const JOB_PAGE_DOCUMENTS: u64 = 100;
/// Maximum size of the documents in a job status response, in bytes; a larger document is returned alone.
pub const JOB_PAGE_BYTES: u64 = 10 * 1024 * 1024;
/// Maximum size of the documents in a WebSocket frame of a job, in bytes; a larger document is sent alone (not
/// specified).
pub const SOCKET_PAGE_BYTES: u64 = 1024 * 1024;
/// Maximum number of errors in a response about the errors of a job (not specified).
pub const JOB_ERRORS_MAX: usize = 10_000;
/// Minimum of `limit` of a crawl.
pub const CRAWL_LIMIT_MIN: u64 = 1;
/// Default `limit` of a crawl.
pub const CRAWL_LIMIT_DEFAULT: u64 = 10_000;
/// Maximum of `limit` of a crawl (not specified).
pub const CRAWL_LIMIT_MAX: u64 = 1_000_000;
/// Maximum of `delay` of a crawl, in seconds.
pub const CRAWL_DELAY_MAX_S: f64 = 60.0;
/// Maximum number of `includePaths` and `excludePaths` of a crawl, each (not specified).
pub const CRAWL_PATTERNS_MAX: usize = 100;
/// Maximum length of a regular expression of a crawl, in bytes (not specified).
pub const CRAWL_PATTERN_MAX_BYTES: usize = 2_000;
/// Maximum size of the `metadata` of a webhook, in bytes of JSON (not specified).
pub const WEBHOOK_METADATA_MAX_BYTES: usize = 16 * 1024;
/// Maximum number of dead letters in a response (not specified).
pub const DEAD_LETTERS_MAX: u64 = 1_000;
/// Default number of dead letters in a response (not specified).
pub const DEAD_LETTERS_DEFAULT: u64 = 100;
/// Maximum length of `x-idempotency-key`, in characters (not specified).
pub const IDEMPOTENCY_KEY_MAX_CHARS: usize = 256;

/// Maximum length of the name of a reported crawl, in Unicode scalar values (not specified).
pub const CRAWL_ID_MAX_CHARS: u32 = 64;

/// Maximum number of start hosts of a reported crawl (not specified).
pub const CRAWL_HOSTS_MAX: usize = 16;

/// Maximum length of a start host of a reported crawl, in Unicode scalar values.
pub const CRAWL_HOST_MAX_CHARS: u32 = 255;

/// Minimum length of the `name` of a monitor, in Unicode scalar values (operations.md, section 3.2).
pub const MONITOR_NAME_MIN_CHARS: u32 = 1;
/// Maximum length of the `name` of a monitor, in Unicode scalar values.
pub const MONITOR_NAME_MAX_CHARS: u32 = 256;
/// Maximum length of `cron`, `text` and `timezone` of a schedule, each, in Unicode scalar values.
pub const SCHEDULE_MAX_CHARS: u32 = 128;
/// Default minimum distance of two checks of a monitor, in seconds (operations.md, section 3.3).
pub const SCHEDULE_INTERVAL_MIN_S: u64 = 300;
/// Minimum number of `targets` of a monitor.
pub const MONITOR_TARGETS_MIN: usize = 1;
/// Maximum number of `targets` of a monitor.
pub const MONITOR_TARGETS_MAX: usize = 50;
/// Minimum number of `urls` of a scrape target.
pub const MONITOR_URLS_MIN: usize = 1;
/// Maximum number of `urls` of a scrape target, and of all scrape targets of a monitor together (not specified).
pub const MONITOR_URLS_MAX: usize = 10_000;
/// Minimum number of `queries` of a search target.
pub const MONITOR_QUERIES_MIN: usize = 1;
/// Maximum number of `queries` of a search target.
pub const MONITOR_QUERIES_MAX: usize = 12;
/// Minimum length of a query of a search target, in Unicode scalar values.
pub const MONITOR_QUERY_MIN_CHARS: u32 = 1;
/// Maximum length of a query of a search target, in Unicode scalar values.
pub const MONITOR_QUERY_MAX_CHARS: u32 = 256;
/// Maximum number of `includeDomains` and `excludeDomains` of a search target, each.
pub const MONITOR_DOMAINS_MAX: usize = 50;
/// Minimum of `maxResults` of a search target.
pub const MONITOR_RESULTS_MIN: u32 = 1;
/// Default of `maxResults` of a search target.
pub const MONITOR_RESULTS_DEFAULT: u32 = 10;
/// Maximum of `maxResults` of a search target.
pub const MONITOR_RESULTS_MAX: u32 = 50;
/// Minimum of `retentionDays` of a monitor.
pub const MONITOR_RETENTION_MIN_DAYS: u32 = 1;
/// Default of `retentionDays` of a monitor.
pub const MONITOR_RETENTION_DEFAULT_DAYS: u32 = 30;
/// Maximum of `retentionDays` of a monitor.
pub const MONITOR_RETENTION_MAX_DAYS: u32 = 365;
/// Maximum length of the `goal` of a monitor, in Unicode scalar values.
pub const MONITOR_GOAL_MAX_CHARS: u32 = 2_000;
/// Maximum number of email recipients of a monitor.
pub const EMAIL_RECIPIENTS_MAX: usize = 25;
/// Maximum length of an email address, in bytes (RFC 5321, section 4.5.3.1.3, without the brackets of a path).
pub const EMAIL_MAX_CHARS: u32 = 254;
/// Minimum length of the token of a link in an email, in characters.
pub const EMAIL_TOKEN_MIN_CHARS: u32 = 16;
/// Maximum length of the token of a link in an email, in characters.
pub const EMAIL_TOKEN_MAX_CHARS: u32 = 64;
/// Maximum length of the ID of a Slack channel, in Unicode scalar values.
pub const SLACK_CHANNEL_ID_MAX_CHARS: u32 = 64;
/// Maximum length of the name of a Slack channel, in Unicode scalar values.
pub const SLACK_CHANNEL_NAME_MAX_CHARS: u32 = 128;
/// Maximum number of channels of the notifications of a monitor (not specified).
pub const CHANNELS_MAX: usize = 10;
/// Maximum size of the template of a channel as JSON, in bytes (not specified).
pub const CHANNEL_TEMPLATE_MAX_BYTES: usize = 16 * 1024;
/// Maximum number of patterns in `ignoreLines` of a target (not specified).
pub const IGNORED_LINES_MAX: usize = 20;
/// Maximum number of `conditions` of a target (not specified).
pub const CONDITIONS_MAX: usize = 10;
/// Maximum length of a text or pattern of a condition, in Unicode scalar values (not specified).
pub const CONDITION_TEXT_MAX_CHARS: u32 = 500;
/// Minimum of `limit` of lists of monitors, checks and pages.
pub const MONITOR_LIST_LIMIT_MIN: u64 = 1;
/// Default of `limit` of lists of monitors, checks and pages.
pub const MONITOR_LIST_LIMIT_DEFAULT: u64 = 25;
/// Maximum of `limit` of lists of monitors, checks and pages.
pub const MONITOR_LIST_LIMIT_MAX: u64 = 100;
/// Minimum length of `code` of a browser session, in Unicode scalar values.
pub const INTERACT_CODE_MIN_CHARS: u32 = 1;
/// Maximum length of `code` of a browser session, in Unicode scalar values.
pub const INTERACT_CODE_MAX_CHARS: u32 = 100_000;
/// Minimum length of `prompt` of a browser session, in Unicode scalar values.
pub const INTERACT_PROMPT_MIN_CHARS: u32 = 1;
/// Maximum length of `prompt` of a browser session, in Unicode scalar values.
pub const INTERACT_PROMPT_MAX_CHARS: u32 = 10_000;
/// Minimum of `timeout` of code in a browser session, in seconds.
pub const INTERACT_TIMEOUT_MIN_S: u32 = 1;
/// Default of `timeout` of code in a browser session, in seconds.
pub const INTERACT_TIMEOUT_DEFAULT_S: u32 = 30;
/// Maximum of `timeout` of code in a browser session, in seconds.
pub const INTERACT_TIMEOUT_MAX_S: u32 = 300;
/// Default of `timeout` of a prompt in a browser session, in seconds.
pub const INTERACT_PROMPT_TIMEOUT_DEFAULT_S: u32 = 280;
/// Maximum number of steps of a prompt in a browser session.
pub const INTERACT_PROMPT_STEPS_MAX: u32 = 25;
/// Minimum of `ttl` of a browser session, in seconds.
pub const INTERACT_TTL_MIN_S: u32 = 30;
/// Default of `ttl` of a browser session, in seconds.
pub const INTERACT_TTL_DEFAULT_S: u32 = 600;
/// Maximum of `ttl` of a browser session, in seconds.
pub const INTERACT_TTL_MAX_S: u32 = 3_600;
/// Minimum of `activityTtl` of a browser session, in seconds.
pub const INTERACT_ACTIVITY_TTL_MIN_S: u32 = 10;
/// Default of `activityTtl` of a browser session, in seconds.
pub const INTERACT_ACTIVITY_TTL_DEFAULT_S: u32 = 300;
/// Maximum of `activityTtl` of a browser session, in seconds.
pub const INTERACT_ACTIVITY_TTL_MAX_S: u32 = 3_600;
/// Maximum size of each output of code in a browser session, in bytes.
pub const INTERACT_OUTPUT_MAX_BYTES: usize = 1024 * 1024;
/// Maximum number of requests that wait for one browser session.
pub const INTERACT_WAITING_MAX: usize = 8;
/// Maximum number of downloads of one run of code in a browser session.
pub const INTERACT_DOWNLOADS_MAX: usize = 16;
/// Maximum size of a download of code in a browser session, in bytes.
pub const INTERACT_DOWNLOAD_MAX_BYTES: u64 = 32 * 1024 * 1024;
/// Maximum length of the file name of a download of code in a browser session, in Unicode scalar values.
pub const INTERACT_DOWNLOAD_NAME_MAX_CHARS: usize = 100;
/// Lifetime of the URL of a download of code in a browser session, in seconds.
pub const INTERACT_DOWNLOAD_LIFETIME_S: u64 = 24 * 3_600;
/// Maximum number of browser sessions in a list.
pub const INTERACT_LIST_MAX: u64 = 100;

/// Maximum number of items of `videos` (not specified).
pub const VIDEOS_MAX: usize = 50;
/// Maximum length of a title of `videos`, in Unicode scalar values (not specified).
pub const VIDEO_TITLE_MAX_CHARS: usize = 300;
/// Maximum length of a description of `videos`, in Unicode scalar values (not specified).
pub const VIDEO_DESCRIPTION_MAX_CHARS: usize = 2_000;
/// Maximum length of a URL of `videos`, in bytes (not specified).
pub const VIDEO_URL_MAX_BYTES: usize = 2_048;
/// Lifetime of the URLs of the formats audio and video, in seconds.
pub const MEDIA_LIFETIME_S: u64 = 3_600;
/// Maximum length of the text of a site that refuses access to a medium, in Unicode scalar values (operations.md, section
/// 9).
pub const MEDIA_MESSAGE_MAX_CHARS: usize = 500;

/// Maximum length of the message of a test event for a SIEM, in Unicode scalar values (not specified).
pub const SIEM_TEST_MESSAGE_MAX_CHARS: u32 = 256;
/// Time for which the response to a test event waits for the receivers, in seconds (not specified).
pub const SIEM_TEST_WAIT_S: u64 = 5;
/// Minimum length of an invitation to a key: `fi-` and 32 digits (not specified).
pub const INVITATION_MIN_CHARS: u32 = 35;
/// Maximum length of an invitation or of the link with it, in Unicode scalar values (not specified).
pub const INVITATION_MAX_CHARS: u32 = 2048;

/// Maximum number of variants of a product (not specified).
pub const PRODUCT_VARIANTS_MAX: usize = 250;
/// Maximum number of images of a variant of a product (not specified).
pub const PRODUCT_IMAGES_MAX: usize = 20;
/// Maximum length of the description of a product, in Unicode scalar values (not specified).
pub const PRODUCT_DESCRIPTION_MAX_CHARS: usize = 10_000;
/// Maximum number of font families of the format branding (operations.md, section 7.1).
pub const BRANDING_FONTS_MAX: usize = 10;
/// Maximum length of a logo as a data URI (not specified).
pub const BRANDING_LOGO_MAX_BYTES: usize = 64 << 10;
/// Maximum length of a text of the format branding, in Unicode scalar values (not specified).
pub const BRANDING_TEXT_MAX_CHARS: usize = 200;
/// Maximum number of sections of a menu (not specified).
pub const MENU_SECTIONS_MAX: usize = 200;
/// Maximum number of items of a menu (not specified).
pub const MENU_ITEMS_MAX: usize = 2_000;
/// Maximum length of the description of a section or item of a menu, in Unicode scalar values (not specified).
pub const MENU_DESCRIPTION_MAX_CHARS: usize = 2_000;

/// Maximum number of `valuableSources` of feedback.
pub const FEEDBACK_SOURCES_MAX: usize = 50;
/// Maximum length of the `reason` of a source, in Unicode scalar values.
pub const FEEDBACK_REASON_MAX_CHARS: u32 = 1_000;
/// Maximum number of `missingContent` of feedback on a search.
pub const SEARCH_FEEDBACK_MISSING_MAX: usize = 20;
/// Maximum number of `missingContent` of other feedback.
pub const FEEDBACK_MISSING_MAX: usize = 50;
/// Minimum length of the `topic` of missing content, in Unicode scalar values.
pub const FEEDBACK_TOPIC_MIN_CHARS: u32 = 1;
/// Maximum length of the `topic` of missing content, in Unicode scalar values.
pub const FEEDBACK_TOPIC_MAX_CHARS: u32 = 200;
/// Maximum length of the `description` of missing content, in Unicode scalar values.
pub const FEEDBACK_DESCRIPTION_MAX_CHARS: u32 = 2_000;
/// Maximum length of `querySuggestions` of feedback, in Unicode scalar values.
pub const FEEDBACK_SUGGESTIONS_MAX_CHARS: u32 = 2_000;
/// Maximum number of `issues` and `tags` of feedback, each.
pub const FEEDBACK_CODES_MAX: usize = 20;
/// Maximum length of an issue or tag of feedback, in characters.
pub const FEEDBACK_CODE_MAX_CHARS: u32 = 80;
/// Maximum length of the `note` of feedback, in Unicode scalar values.
pub const FEEDBACK_NOTE_MAX_CHARS: u32 = 4_000;
/// Maximum number of `pageNumbers` of feedback.
pub const FEEDBACK_PAGES_MAX: usize = 100;
/// Maximum size of the `metadata` of feedback as JSON, in bytes.
pub const FEEDBACK_METADATA_MAX_BYTES: usize = 8 * 1024;
/// Maximum size of feedback as JSON, in bytes (not specified).
pub const FEEDBACK_MAX_BYTES: usize = 64 * 1024;
/// Time after a request in which it can be rated, in seconds.
pub const FEEDBACK_WINDOW_S: u64 = 24 * 60 * 60;
/// Maximum number of stored feedback of a team (not specified). The oldest is deleted first.
pub const FEEDBACK_PER_TEAM_MAX: u64 = 5_000;
/// Minimum of `limit` of the activity list.
pub const ACTIVITY_LIMIT_MIN: u32 = 1;
/// Default of `limit` of the activity list.
pub const ACTIVITY_LIMIT_DEFAULT: u32 = 50;
/// Maximum of `limit` of the activity list.
pub const ACTIVITY_LIMIT_MAX: u32 = 100;
/// Time that the activity list covers, in seconds.
pub const ACTIVITY_WINDOW_S: u64 = 24 * 60 * 60;
/// Minimum of `maxUrls` of an llms.txt.
pub const LLMSTXT_URLS_MIN: u32 = 1;
/// Default of `maxUrls` of an llms.txt.
pub const LLMSTXT_URLS_DEFAULT: u32 = 10;
/// Maximum of `maxUrls` of an llms.txt.
pub const LLMSTXT_URLS_MAX: u32 = 5_000;
/// Maximum length of a title and of a description in an llms.txt, in Unicode scalar values (not specified).
pub const LLMSTXT_LINE_MAX_CHARS: usize = 500;
/// Maximum size of the full text of an llms.txt, in bytes (not specified). Further pages are left out.
pub const LLMSTXT_FULL_MAX_BYTES: usize = 16 * 1024 * 1024;
