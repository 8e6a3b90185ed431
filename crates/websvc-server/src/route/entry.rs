//! The rows of the table of routes, by kind of operation.

use http::Method;
use websvc_store::JobKind;

use super::{AccessLevel, Operation, Route};
use crate::handler::{
    AgentOperation, BrowserOperation, ExtractOperation, JobOperation, MonitorEmailOperation,
    MonitorOperation, TeamOperation, WebhookOperation,
};
use crate::{adapter, dashboard};

pub(super) const fn batch(method: Method, path: &'static str, operation: JobOperation) -> Route {
    route(method, path, Operation::Job(JobKind::Batch, operation), AccessLevel::Key)
}

pub(super) const fn crawl(method: Method, path: &'static str, operation: JobOperation) -> Route {
    route(method, path, Operation::Job(JobKind::Crawl, operation), AccessLevel::Key)
}

pub(super) const fn monitor(method: Method, path: &'static str, operation: MonitorOperation) -> Route {
    route(method, path, Operation::Monitor(operation), AccessLevel::Key)
}

pub(super) const fn email(method: Method, path: &'static str, operation: MonitorEmailOperation) -> Route {
    route(method, path, Operation::MonitorEmail(operation), AccessLevel::Public)
}

pub(super) const fn browser(method: Method, path: &'static str, operation: BrowserOperation) -> Route {
    route(method, path, Operation::Browser(operation), AccessLevel::Key)
}

pub(super) const fn agent(method: Method, path: &'static str, operation: AgentOperation) -> Route {
    route(method, path, Operation::Agent(operation), AccessLevel::Key)
}

pub(super) const fn extract(method: Method, path: &'static str, operation: ExtractOperation) -> Route {
    route(method, path, Operation::Extract(operation), AccessLevel::Key)
}

pub(super) const fn session_url(path: &'static str, operation: BrowserOperation) -> Route {
    route(Method::GET, path, Operation::Browser(operation), AccessLevel::Public)
}

pub(super) const fn webhook(method: Method, path: &'static str, operation: WebhookOperation) -> Route {
    route(method, path, Operation::Webhook(operation), AccessLevel::Key)
}

pub(super) const fn team(method: Method, path: &'static str, operation: TeamOperation) -> Route {
    route(method, path, Operation::Team(operation), AccessLevel::Key)
}

pub(super) const fn batch_v1(method: Method, path: &'static str, operation: JobOperation) -> Route {
    adapter(method, path, adapter::Operation::JobV1(JobKind::Batch, operation))
}

pub(super) const fn crawl_v1(method: Method, path: &'static str, operation: JobOperation) -> Route {
    adapter(method, path, adapter::Operation::JobV1(JobKind::Crawl, operation))
}

pub(super) const fn adapter(method: Method, path: &'static str, operation: adapter::Operation) -> Route {
    route(method, path, Operation::Adapter(operation), AccessLevel::Key)
}

pub(super) const fn dashboard(
    method: Method,
    path: &'static str,
    operation: dashboard::Operation,
    access: AccessLevel,
) -> Route {
    route(method, path, Operation::Dashboard(operation), access)
}

pub(super) const fn file(file: dashboard::File) -> Route {
    dashboard(Method::GET, file.path, dashboard::Operation::File(file), AccessLevel::Public)
}

pub(super) const fn route(
    method: Method,
    path: &'static str,
    operation: Operation,
    access: AccessLevel,
) -> Route {
    Route { method, path, operation, access }
}
