//! A check by the caller of the URLs that a fetch may go to after the first one.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use url::Url;

use crate::BoxFuture;

type CheckFuture = BoxFuture<'static, Result<(), String>>;
type Rule = dyn Fn(Url) -> CheckFuture + Send + Sync;

/// A check of each URL that a fetch is redirected to, before anything is sent there. The guard checks the addresses as
/// well.
#[derive(Clone)]
pub struct UrlPolicy(Arc<Rule>);

impl UrlPolicy {
    /// Creates a policy from a function that returns the reason why a URL is refused. The text may be shown to the
    /// caller who gave the first URL.
    #[must_use]
    pub fn new<F, A>(check: F) -> Self
    where
        F: Fn(Url) -> A + Send + Sync + 'static,
        A: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self(Arc::new(move |url| Box::pin(check(url))))
    }

    /// Checks one URL.
    ///
    /// # Errors
    /// The reason why the URL is refused.
    pub async fn check(&self, url: &Url) -> Result<(), String> {
        (self.0)(url.clone()).await
    }
}

impl fmt::Debug for UrlPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UrlPolicy")
    }
}
