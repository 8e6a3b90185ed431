//! A rule of the caller about where a fetch may go beyond its first URL.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use url::Url;

use crate::BoxFuture;

type CheckFuture = BoxFuture<'static, Result<(), String>>;
type Rule = dyn Fn(Url) -> CheckFuture + Send + Sync;

/// Decides whether a URL that a page leads on to may be gone to; asked before anything is sent there. The guard's rules
/// hold beside it.
#[derive(Clone)]
pub struct UrlPolicy(Arc<Rule>);

impl UrlPolicy {
    /// Makes a rule of a function that answers with why a URL may not be gone to, in words for whoever gave the first
    /// one.
    #[must_use]
    pub fn new<F, A>(ask: F) -> Self
    where
        F: Fn(Url) -> A + Send + Sync + 'static,
        A: Future<Output = Result<(), String>> + Send + 'static,
    {
        Self(Arc::new(move |url| Box::pin(ask(url))))
    }

    /// Asks about one URL.
    ///
    /// # Errors
    /// Why it may not be gone to.
    pub async fn check(&self, url: &Url) -> Result<(), String> {
        (self.0)(url.clone()).await
    }
}

impl fmt::Debug for UrlPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UrlRule")
    }
}
