//! Work that goes on while nobody waits for it, such as putting pages away.

use std::mem;
use std::sync::{Mutex, PoisonError};

use tokio::task::JoinSet;

/// Tasks whose end no caller waits for. They end with the browser.
#[derive(Default)]
pub(crate) struct Chores(Mutex<JoinSet<()>>);

impl Chores {
    pub(crate) fn spawn(&self, chore: impl Future<Output = ()> + Send + 'static) {
        let mut chores = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while chores.try_join_next().is_some() {}
        chores.spawn(chore);
    }

    /// Waits until all that was begun is done.
    pub(crate) async fn done(&self) {
        let mut begun = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        while begun.join_next().await.is_some() {}
    }
}
