//! APIs for tests.

use super::*;
use feed::backlog::Backlog;
use feed::store::Store;
use feed::streaming::Streaming;

/// An API over an empty store with these settings.
pub(crate) fn api_with(config: Config) -> Arc<Api> {
    api_of(&config, |_| None)
}

/// An API over an empty store, of a node of a cluster.
pub(crate) fn api_of(config: &Config, node: impl FnOnce(&Arc<Feed>) -> Option<Arc<Node>>) -> Arc<Api> {
    let store = Arc::new(Store::in_memory().expect("opens"));
    let feed = Feed::new(store, Arc::new(Backlog::new(10)), Arc::new(Streaming::new(1000)), config).expect("opens");
    let (gate, backups) = (Authenticator::new(&config.auth).expect("no keys"), Backups::new(config));
    let (feed, backups, gate) = (Arc::new(feed), Arc::new(backups), Arc::new(gate));
    let node = node(&feed);
    let standbys = Arc::new(feed::standbys::Standbys::new(config));
    Arc::new(Api::new(feed, (backups, standbys), Figures::default(), 10, gate, Arc::default(), node))
}
