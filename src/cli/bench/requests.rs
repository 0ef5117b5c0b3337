//! The calls of each operation.

use hyper::Method;

use super::load::{Post, Step};
use super::mix::Kind;
use model::Millis;

/// Ids of one run: two runs have no user and no item in common, and applications hardly number so high.
const USERS: u64 = 9_000_000_000_000_000_000;
const ITEMS: u64 = 9_100_000_000_000_000_000;
/// Ids between two runs that begin in successive seconds.
const BETWEEN: u64 = 1_000_000_000;
/// The numbers of seconds begin again after three years.
const SECONDS: u64 = 100_000_000;

/// The text of posts.
const WORDS: &str =
    "the tide comes in and the boats go out with the wind behind them while gulls follow the nets home ";

/// Method, path with query, and JSON or nothing.
pub(super) type Call = (Method, String, String);

/// Makes the calls of a run.
#[derive(Debug)]
pub(super) struct Requests {
    first_user: u64,
    /// The first id of an item that is not used yet.
    pub(super) next_item: u64,
    /// The end of the paths of pages.
    page: &'static str,
}

impl Requests {
    /// For a run that begins at a time. Pages have only ids, or whole items.
    pub(super) fn new(begin: Millis, only_ids: bool) -> Self {
        let offset = begin / 1000 % SECONDS * BETWEEN;
        let page = if only_ids { "timeline?limit=20&view=ids" } else { "timeline?limit=20" };
        Self { first_user: USERS + offset, next_item: ITEMS + offset, page }
    }

    /// The id of a user.
    pub(super) fn user(&self, user: u32) -> u64 {
        self.first_user + u64::from(user)
    }

    /// A new id of an item.
    fn item(&mut self) -> u64 {
        let item = self.next_item;
        self.next_item += 1;
        item
    }

    /// The body of a publish; without a time, the server's clock gives it.
    pub(super) fn post(&mut self, post: Post, at: Option<Millis>) -> String {
        let (item, author) = (self.item(), self.user(post.author));
        let at = at.map_or_else(String::new, |at| format!(r#""published_at":{at},"#));
        format!(r#"{{"content_id":"{item}","author_id":"{author}",{at}"text":"{}"}}"#, text(post.length))
    }

    /// The calls of an operation, one after the other.
    pub(super) fn of(&mut self, step: Step) -> Vec<Call> {
        let of_user = |rest: &str| format!("/v1/users/{}/{rest}", self.user(step.user));
        let page = || (Method::GET, of_user(self.page), String::new());
        let presence = |is_online: bool| (Method::PUT, of_user("presence"), format!(r#"{{"online":{is_online}}}"#));
        match step.kind {
            Kind::Publish | Kind::PublishBig => {
                let post = Post { author: step.user, length: step.length };
                vec![(Method::POST, "/v1/content".to_owned(), self.post(post, None))]
            }
            Kind::Read => vec![page()],
            Kind::Follow => {
                vec![(Method::PUT, of_user(&format!("following/{}", self.user(step.target))), String::new())]
            }
            Kind::LogIn => vec![presence(true), page()],
            Kind::LogOut => vec![presence(false)],
        }
    }
}

/// Words of a length.
fn text(length: u16) -> String {
    WORDS.chars().cycle().take(length.into()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_no_ids_in_common_and_all_are_valid() {
        let (mut one, mut later) = (Requests::new(1_800_000_000_999, false), Requests::new(1_800_000_001_000, false));
        assert!(one.user(999_999_999) < later.user(0));
        assert!(one.item() + 999_999_998 < later.item());
        let mut last = Requests::new(99_999_999_000, false);
        assert!(last.user(999_999_999) < ITEMS && last.item() + BETWEEN < i64::MAX as u64);
    }
}
