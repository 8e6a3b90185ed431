//! Check of the address that this replica announces to the others.

use websvc_server::Announcement;

use super::finding::Finding;
use crate::app;
use crate::config::Config;

const REPLICA: &str = "replica address";

/// Checks the address, if the database is on a server: otherwise there are no other replicas.
pub(super) async fn check(config: &Config) -> Option<Finding> {
    config.store.url.as_ref()?;
    // The check of the listener reports a host that has no address.
    let listener = tokio::net::lookup_host(&config.server.listen).await.ok()?.next()?;
    Some(match app::announcement(config, listener) {
        Ok(announcement) => finding(announcement),
        Err(error) => Finding::problem(
            REPLICA,
            error.to_string(),
            "set `replica.address` to the host under which the other replicas reach this one",
        ),
    })
}

fn finding(announcement: Announcement) -> Finding {
    match announcement {
        Announcement::Url(url) => {
            Finding::ok(REPLICA, format!("other replicas pass on requests for browser sessions to {url}"))
        }
        Announcement::None { reason } => Finding::warning(
            REPLICA,
            format!("none is announced: {reason}"),
            "without it, let the load balancer send all requests of a client to the same replica if clients use \
             browser sessions; with one replica, ignore this",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::State;
    use super::*;

    #[tokio::test]
    async fn address_is_checked_only_with_a_database_on_a_server() {
        let mut config = Config::default();
        assert_eq!(check(&config).await, None);
        config.store.url = Some("postgres://db.test/websvc".to_owned());
        let off = check(&config).await.unwrap();
        assert!(off.state == State::Warning && off.message.contains("replica.address"), "{off:?}");
        config.replica.address = Some("10.0.0.5".to_owned());
        let on = check(&config).await.unwrap();
        assert!(on.state == State::Ok && on.message.contains("http://10.0.0.5:3002/"), "{on:?}");
        config.replica.address = Some("a b".to_owned());
        assert_eq!(check(&config).await.unwrap().state, State::Problem);
    }
}
