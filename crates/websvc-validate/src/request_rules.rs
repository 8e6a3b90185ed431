//! Table of requests: their types, shapes, plans and rules.

use std::sync::LazyLock;

#[cfg(test)]
use serde_json::Value;
use url::Url;
use websvc_types::agent::AgentRequest;
use websvc_types::extract::ExtractRequest;
use websvc_types::feedback::{FeedbackRequest, SearchFeedbackRequest};
use websvc_types::index::{CrawlProgressRequest, IndexUploadRequest};
use websvc_types::interact::{CreateBrowserRequest, ExecuteRequest, InteractRequest};
use websvc_types::job::{BatchScrapeRequest, CrawlParams, CrawlParamsRequest, CrawlRequest};
use websvc_types::key::RedeemRequest;
use websvc_types::llms_txt::LlmsTxtRequest;
use websvc_types::map::{MapRequest, MapRequestV1};
use websvc_types::monitor::{
    CreateMonitorRequest, MonitorEmailRequest, NotificationChannel, RunMonitorRequest, UpdateMonitorRequest,
};
use websvc_types::rerank::RerankRequest;
use websvc_types::team::{SiemRequest, SiemTestRequest, TeamThreatRequest};
use websvc_types::{
    ParseOptions, ParseUploadRequest, ScrapeOptions, ScrapeRequest, SearchRequest, ThreatProtection,
    UploadUrlRequest, schema,
};

use crate::batch::{self, BatchPlan};
use crate::channel::Channel;
use crate::crawl::{self, CrawlPlan};
use crate::interact::{self, CodePlan, InteractPlan};
use crate::llms_txt::{self, LlmsTxtPlan};
use crate::map_plan::MapPlan;
use crate::page::{self, FilePlan, PagePlan};
use crate::policy::{Policy, ThreatOverride, ThreatPolicy};
use crate::report::Report;
use crate::request::{Request, Shaped};
use crate::scrape_plan::ScrapePlan;
use crate::search_plan::SearchPlan;
use crate::shape::Shape;
use crate::{crawl_params, feedback, key, map, monitor, rerank, scrape, search, team, threat, upload};

/// Declares the shapes of request types.
macro_rules! shapes {
    ($($request:ident)*) => {
        $(impl Shaped for $request {
            fn shape() -> &'static Shape {
                static SHAPE: LazyLock<Shape> =
                    LazyLock::new(|| Shape::compile(schema::request::<$request>().as_value()));
                &SHAPE
            }
        })*

        /// Returns the schemas of all shapes, with the names of their types.
        #[cfg(test)]
        pub(crate) fn request_schemas() -> Vec<(&'static str, Value)> {
            vec![$((stringify!($request), schema::request::<$request>().to_value())),*]
        }
    };
}

shapes! {
    AgentRequest BatchScrapeRequest CrawlParams CrawlParamsRequest CrawlProgressRequest CrawlRequest
    CreateBrowserRequest CreateMonitorRequest ExecuteRequest ExtractRequest FeedbackRequest IndexUploadRequest
    InteractRequest LlmsTxtRequest MapRequest MapRequestV1 MonitorEmailRequest NotificationChannel ParseOptions ParseUploadRequest
    RedeemRequest RerankRequest RunMonitorRequest ScrapeOptions ScrapeRequest SearchFeedbackRequest SearchRequest SiemRequest
    SiemTestRequest TeamThreatRequest UpdateMonitorRequest UploadUrlRequest
}

/// Declares requests with their plans and the functions that apply the rules: first those whose rules depend on the policy
/// of the team, then the others.
macro_rules! requests {
    (
        policy { $($request:ident => $plan:ty, $rules:path;)* }
        none { $($free_request:ident => $free_plan:ty, $free_rules:path;)* }
    ) => {
        $(impl Request for $request {
            type Plan = $plan;
            type Context<'a> = &'a Policy;

            fn plan(self, report: &mut Report, policy: &Policy) -> Option<$plan> {
                $rules(report, self, policy).into()
            }
        })*

        $(impl Request for $free_request {
            type Plan = $free_plan;
            type Context<'a> = ();

            fn plan(self, report: &mut Report, (): ()) -> Option<$free_plan> {
                $free_rules(report, self).into()
            }
        })*
    };
}

// Requests with rules before or around their body implement the trait next to their rules: those of monitors, agent runs,
// extractions, browser sessions and uploads to the index.
requests! {
    policy {
        BatchScrapeRequest => BatchPlan, batch::check;
        CrawlRequest => CrawlPlan, crawl::check;
        MapRequest => MapPlan, map::check;
        MapRequestV1 => MapPlan, map::check_v1;
        ParseOptions => FilePlan, page::check_file;
        ParseUploadRequest => (String, FilePlan), page::check_uploaded_file;
        ScrapeOptions => ScrapePlan, scrape::check_single;
        ScrapeRequest => PagePlan, page::check_page;
        SearchRequest => SearchPlan, search::check;
        UploadUrlRequest => Self, page::check_upload_url;
    }
    none {
        CrawlParams => Self, crawl_params::check;
        CrawlParamsRequest => (Self, Url), crawl_params::check_request;
        CrawlProgressRequest => Self, upload::check_progress;
        ExecuteRequest => CodePlan, interact::check_execute;
        FeedbackRequest => Self, feedback::check;
        InteractRequest => InteractPlan, interact::check_interact;
        LlmsTxtRequest => LlmsTxtPlan, llms_txt::check;
        MonitorEmailRequest => Self, monitor::check_email_token;
        NotificationChannel => (Self, Channel), monitor::check_test;
        RedeemRequest => String, key::check_redeem;
        RerankRequest => Self, rerank::check;
        SearchFeedbackRequest => Self, feedback::check_search;
        SiemRequest => bool, team::check_siem;
        SiemTestRequest => Self, team::check_siem_test;
        TeamThreatRequest => (ThreatPolicy, ThreatOverride, ThreatProtection), threat::check_team;
    }
}
