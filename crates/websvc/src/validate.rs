//! The field rules of requests, from the crate `websvc-validate`.
//!
//! The functions turn a request into a plan: all values are checked, all defaults are filled in. Otherwise they return
//! all violations at once, the same as the service does with status 400. Use them to check input before it is sent, or
//! in a service of your own that accepts the same requests.
//!
//! ```
//! use websvc::types::SearchRequest;
//! use websvc::validate::{Policy, Rejection, check_request};
//!
//! let request = SearchRequest { limit: Some(101), ..SearchRequest::new("") };
//! let Err(Rejection::Invalid(violations)) = check_request(&request, &Policy::default()) else {
//!     panic!("the request breaks two rules");
//! };
//! let paths: Vec<&str> = violations.iter().map(|violation| violation.path.as_str()).collect();
//! assert_eq!(paths, ["/limit", "/query"]);
//! ```

pub use websvc_validate::{
    BatchPage, BatchPlan, Checked, CrawlPlan, DomainFilter, FeaturePolicy, FilePlan, LocationPlan, MapPlan,
    PagePlan, PathFilter, PathPatterns, Policy, Rejection, Request, RetentionMode, SchemaCompiler,
    SchemaError, ScrapePlan, SearchPlan, SourcePlan, Target, ThreatOverride, ThreatPolicy, ThreatRules,
    WebhookPlan, check_request, read_request,
};
