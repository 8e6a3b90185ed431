//! The handler of each operation.

use websvc_transport::BoxFuture;

use super::RequestContext;
use super::receive::RequestInput;
use crate::adapter;
use crate::dashboard;
use crate::handler;
use crate::mcp;
use crate::response::{ApiError, HttpResponse};
use crate::route::Operation;

/// The future of a handler.
pub(super) type BoxHandlerFuture<'a, T = HttpResponse> = BoxFuture<'a, Result<T, ApiError>>;

/// Runs an operation. The future is boxed: its type would become too deep for the compiler.
pub(super) fn perform(
    operation: Operation,
    context: RequestContext<'_>,
    input: RequestInput,
) -> BoxHandlerFuture<'_> {
    Box::pin(dispatch(operation, context, input))
}

async fn dispatch(
    operation: Operation,
    context: RequestContext<'_>,
    input: RequestInput,
) -> Result<HttpResponse, ApiError> {
    let request = match input {
        RequestInput::Request(request) => request,
        RequestInput::Form(form) => return handler::parse(context, form).await,
    };
    match operation {
        Operation::Search => handler::search(context, request).await,
        Operation::Map => handler::map(context, request).await,
        Operation::MapV1 => handler::map_v1(context, request).await,
        Operation::Scrape => handler::scrape(context, request).await,
        Operation::ScrapeResult => handler::scrape_result(&context, request.uri().path()).await,
        // With a form, it is handled above.
        Operation::Parse => handler::parse_upload(context, request).await,
        Operation::ParseFormats => Ok(handler::parse_formats(&context)),
        Operation::UploadUrl => handler::upload_url(context, request).await,
        Operation::Upload => handler::upload(context, request).await,
        Operation::Job(kind, operation) => handler::job(kind, operation, context, request).await,
        Operation::Monitor(operation) => handler::monitor(operation, context, request).await,
        Operation::MonitorEmail(operation) => handler::monitor_email(operation, context, request).await,
        Operation::Browser(operation) => handler::browser(operation, context, request).await,
        Operation::Agent(operation) => handler::agent(operation, context, request).await,
        Operation::Extract(operation) => handler::extract(operation, context, request).await,
        Operation::Team(operation) => handler::team(operation, context, request).await,
        Operation::Webhook(operation) => handler::webhook(operation, &context, &request).await,
        Operation::AddDocuments => handler::add_documents(context, request).await,
        Operation::CrawlProgress => handler::crawl_progress(&context, request).await,
        Operation::IndexStats => handler::index_stats(&context).await,
        Operation::CreditUsage => handler::credit_usage(&context).await,
        Operation::CreditHistory => handler::credit_history(&context, request.uri().query()).await,
        Operation::TokenUsage => handler::token_usage(&context).await,
        Operation::TokenHistory => handler::token_history(&context, request.uri().query()).await,
        Operation::QueueStatus => handler::queue_status(&context).await,
        Operation::ConcurrencyCheck => handler::concurrency_check(&context).await,
        Operation::TeamActivity => handler::team_activity(&context, request.uri().query()).await,
        Operation::SearchFeedback => handler::search_feedback(context, request).await,
        Operation::Feedback => handler::feedback(context, request).await,
        Operation::Health => Ok(handler::health()),
        Operation::Ready => Ok(handler::ready(&context).await),
        Operation::Metrics => Ok(handler::metrics(&context).await),
        Operation::OpenApi => handler::openapi(request.headers()).await,
        Operation::Adapter(operation) => adapter::perform(operation, context, request).await,
        Operation::Artifact => handler::artifact(&context, &request).await,
        Operation::Docs(file) => handler::docs(file, request.headers()).await,
        Operation::Root => Ok(handler::root(request.headers())),
        Operation::Dashboard(operation) => dashboard::perform(operation, context, request).await,
        Operation::Mcp => mcp::mcp(context, request).await,
    }
}
