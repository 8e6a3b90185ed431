//! The state that the store shares with its threads.

use std::sync::Arc;

use crate::access::Access;
use crate::database::Database;
use crate::ledger::Ledger;
use crate::pending_work::PendingWork;
use crate::replica::membership::Membership;

/// State shared by the store and its threads.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) database: Arc<Database>,
    pub(crate) access: Access,
    pub(crate) ledger: Ledger,
    pub(crate) membership: Membership,
    pub(crate) pending_work: PendingWork,
}
