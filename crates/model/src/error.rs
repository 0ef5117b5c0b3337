//! One error type, and the codes of all refusals.

use std::fmt;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Makes [`Code`] of one entry for each code: its meaning, HTTP status, name and a detail.
macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $code:ident = $status:literal $name:literal, $detail:expr;)+) => {
        /// Why a request is refused. A code needs one entry only: the table in docs/use/api.md, the OpenAPI document
        /// and the answers are held to this list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $meaning])+ $code,)+
        }

        impl Code {
            /// Every code, in the order of the statuses.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// The stable word for programs.
            pub fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// The status of HTTP.
            pub fn status(self) -> u16 {
                match self { $(Self::$code => $status,)+ }
            }

            /// The meaning, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$code => concat!($($meaning),+).trim_ascii(),)+ }
            }

            /// A detail as the server gives it: the only one, or an example.
            pub fn detail(self) -> &'static str {
                match self { $(Self::$code => $detail,)+ }
            }
        }
    };
}

codes! {
    /// An id in the path is not 1 to 128 bytes of UTF-8 without control characters, or `ids.accept` refuses a new name.
    InvalidId = 400 "invalid_id",
        "uid: an id is 1 to 128 bytes of text without control characters, or a number from 1 to 9223372036854775807, \
         not \"%00\"";
    /// The kind of reaction is none of `reactions.kinds`.
    InvalidKind = 400 "invalid_kind", "kind: expected one of reactions.kinds (\"like\", \"favorite\"), not \"love\"";
    /// The topic in the path does not have 1 to 64 characters.
    InvalidTopic = 400 "invalid_topic", "topic: expected 1 to 64 characters, percent-encoded as UTF-8, not \"%ff\"";
    /// The name of a list in the path does not have 1 to 64 characters.
    InvalidList = 400 "invalid_list", "list: expected 1 to 64 characters, percent-encoded as UTF-8, not \"%ff\"";
    /// A query parameter is unknown, repeated, missing or wrong.
    InvalidParameter = 400 "invalid_parameter", "limit: expected a whole number from 1 to 100, not \"0\"";
    /// A cursor has the id of an item that this server never saw; not with a user token, for which any name is a place.
    UnknownCursor = 400 "unknown_cursor",
        "the cursor \"1689089522000-alice\" has an id that this server has never seen";
    /// `Last-Event-ID` is no cursor, `Tideline-Position` is wrong, or missing with `consistency=session`, or a change has a
    /// condition such as `If-Match`.
    InvalidHeader = 400 "invalid_header",
        "last-event-id: a cursor is \"<milliseconds>-<id>\", such as \"1689089522000-32850\", not \"7\"";
    /// The body is not valid JSON, or a field is unknown, missing, repeated or wrong.
    InvalidBody = 400 "invalid_body",
        "unknown field `txt`, expected one of `author_id`, `content_id`";
    /// The path has a `%` without two hexadecimal digits, or is not UTF-8.
    InvalidPath = 400 "invalid_path", "the path has a % without two hexadecimal digits, or is not UTF-8";
    /// A time lies more than `content.max_ahead` after the server's clock.
    TimeAhead = 400 "time_ahead",
        "published_at: 1689089522000000 lies more than 10m after the server's clock (1689089522000). A time is whole \
         milliseconds since 1970; this value looks like microseconds";
    /// The request has no credentials. It needs the header `Authorization` with a key or a user token.
    NoCredentials = 401 "no_credentials",
        "this call needs credentials: send the header \"Authorization: Bearer <key or token>\"";
    /// The key or the token is not valid. The detail of an expired token says so.
    BadCredentials = 403 "bad_credentials", "the key or the token is not valid";
    /// The key or the token does not allow this call.
    NotPermitted = 403 "not_permitted", "these credentials do not allow this call";
    /// There is a block between the two users, in one direction or in both.
    Blocked = 403 "blocked", "there is a block between the two users";
    /// A web page of another origin sent a change or opened a stream.
    CrossOrigin = 403 "cross_origin",
        "pages of the origin \"https://evil.example\" may not open streams. To allow this origin, add it to \
         server.allowed_origins";
    /// There is no such item, or it is deleted.
    ContentNotFound = 404 "content_not_found", "the item does not exist, or is deleted";
    /// The user of the token sees nothing of this other user: there is a hide, a block or a suspension, or nothing is
    /// known.
    UserNotFound = 404 "user_not_found", "the user of the token sees nothing of this user";
    /// The user is suspended. Only keys see its profile.
    UserSuspended = 404 "user_suspended", "the user is suspended";
    /// The user has no list of this name.
    ListNotFound = 404 "list_not_found", "the user has no list of this name";
    /// No request of this user to follow waits, and the user is no follower.
    RequestNotFound = 404 "request_not_found", "no such request waits";
    /// There is no such backup.
    BackupNotFound = 404 "backup_not_found", "there is no such backup; GET /v1/admin/backups lists all";
    /// There is no such comparison of nodes, or this node has not come to its place in the command log.
    ComparisonNotFound = 404 "comparison_not_found",
        "there is no such comparison, or this node has not come to its place in the command log";
    /// There is no such path.
    RouteNotFound = 404 "route_not_found", "there is no such path; /docs lists all calls";
    /// The path exists, but not for this method.
    MethodNotAllowed = 405 "method_not_allowed", "this path allows only GET, HEAD";
    /// The body did not arrive within `server.request_timeout`.
    BodyTimeout = 408 "body_timeout", "the body of the request did not arrive within server.request_timeout";
    /// The `content_id` is taken by an item with other fields, or by a deleted item.
    ContentExists = 409 "content_exists",
        "content_id: the item exists with other fields, or is deleted. Use another content_id";
    /// The user is being erased: no change names the user until that is over.
    Erasing = 409 "erasing", "the user is being erased";
    /// A backup is being taken, too many backups wait for their verification, or this backup is being read.
    BackupBusy = 409 "backup_busy", "a backup is being taken. Send the request again later";
    /// This server is a node of a cluster: the other nodes have its data.
    NoStandby = 409 "no_standby", "a node of a cluster has no standby; the other nodes have its data";
    /// The server has not been told to hand over, or not for so long, or has taken changes again since.
    NotHandingOver = 409 "not_handing_over", "the server does not hand over at present";
    /// This server is not a node of a cluster.
    NoCluster = 409 "no_cluster", "this server is not a node of a cluster";
    /// The server cannot sign user tokens: `auth.jwt_secrets` has none.
    NoTokenSecret = 409 "no_token_secret", "auth.jwt_secrets has no secret, so this server makes no tokens";
    /// The changes behind the position are not kept any more (`changes.keep`), or their history has ended. The reader
    /// begins anew.
    ChangesGone = 410 "changes_gone",
        "the changes behind this position are gone (changes.keep), or their history has ended; begin anew";
    /// The write-ahead log behind this place is not kept any more, or is another one. The standby makes a new copy.
    LogGone = 410 "log_gone", "the log behind this place is gone, or is another one; begin with a new copy";
    /// The body, or an item of a batch, is larger than its limit.
    BodyTooLarge = 413 "body_too_large", "the body is larger than its limit of 65536 bytes";
    /// The `Content-Type` or `Content-Encoding` is not supported.
    UnsupportedMediaType = 415 "unsupported_media_type",
        "content-type: expected application/json, in UTF-8, not \"text/xml\"";
    /// The `Host` is not a name of this server (`server.allowed_hosts`).
    MisdirectedRequest = 421 "misdirected_request",
        "\"evil.example\" is not a name of this server. If clients should use this name, add it to \
         server.allowed_hosts";
    /// The server knows 250 kinds of content already.
    TooManyKinds = 422 "too_many_kinds", "kind: the server knows 250 kinds already, and \"clip\" is none of them";
    /// A user cannot follow itself.
    SelfFollow = 422 "self_follow", "a user cannot follow itself";
    /// The user would follow, or have asked to follow, more than `graph.follow_limit` users.
    FollowLimit = 422 "follow_limit", "a user can follow at most 1000 users (graph.follow_limit)";
    /// A user cannot mute itself.
    SelfMute = 422 "self_mute", "a user cannot mute itself";
    /// A user cannot hide its content from itself.
    SelfHide = 422 "self_hide", "a user cannot hide its content from itself";
    /// The user has muted 10,000 users already.
    MuteLimit = 422 "mute_limit", "a user can mute at most 10000 users";
    /// The user hides its content from 10,000 users already.
    HideLimit = 422 "hide_limit", "a user can hide its content from at most 10000 users";
    /// A user cannot block itself.
    SelfBlock = 422 "self_block", "a user cannot block itself";
    /// The user has blocked 10,000 users already.
    BlockLimit = 422 "block_limit", "a user can block at most 10000 users";
    /// The user has 100 lists already.
    ListLimit = 422 "list_limit", "a user can have at most 100 lists";
    /// The list would have more than `graph.follow_limit` members.
    MemberLimit = 422 "member_limit", "a list can have at most 1000 members (graph.follow_limit)";
    /// The user has `server.max_streams_per_user` open streams already.
    StreamLimit = 429 "stream_limit", "a user cannot have more than 32 open streams (server.max_streams_per_user)";
    /// One sender has sent more requests than `rate_limits` allows. Wait as long as `Retry-After` says.
    RateLimited = 429 "rate_limited",
        "these are more than 10 requests a second (rate_limits.per_user). Wait as long as Retry-After says";
    /// The server failed; the server log has the cause.
    Internal = 500 "internal", "the server failed on this request; the server log has the cause";
    /// Too much work is waiting; nothing has changed. Send the request again after `Retry-After`.
    Overloaded = 503 "overloaded", "the server has too many requests at once. Send the request again later";
    /// The disk accepts no writes, usually because it is full; reads still work.
    StorageUnavailable = 503 "storage_unavailable",
        "the storage accepts no changes at present; no acknowledged change is lost. Send the request again later";
    /// The storage engine has stopped; the server must be restarted.
    StorageStopped = 503 "storage_stopped",
        "the storage engine has stopped and accepts no changes; the server must be restarted";
    /// The directory of backups (`backup.dir`) cannot be made, listed or written to.
    BackupDirUnusable = 503 "backup_dir_unusable",
        "the directory of backups /mnt/backups cannot be used: Permission denied (os error 13). See backup.dir";
    /// The command log of the cluster cannot be reached or has too few replicas, or this node was too slow. Nothing has
    /// changed.
    LogUnavailable = 503 "log_unavailable",
        "the command log of the cluster cannot be reached at present; nothing has changed. Send the request again later";
    /// The command log of the cluster did not confirm the change in time. The change may still be made.
    OutcomeUnknown = 503 "outcome_unknown",
        "the command log did not confirm the change in time; it may still be made. To send it again is safe, for a \
         publish with the same content_id";
    /// The server hands over to its standby, or has done so, and takes no changes. Send the request to the standby.
    HandingOver = 503 "handing_over",
        "the server hands over to its standby. Send the request again soon, to the standby";
    /// This server is a standby: it follows another server and answers no calls of applications.
    Standby = 503 "standby", "this server is a standby of another one and answers only calls of operators";
    /// The server is stopping.
    Stopping = 503 "stopping", "the server is stopping";
    /// The request took longer than `server.request_timeout`; a change may still have been made. Send it again.
    Timeout = 503 "timeout",
        "the request took longer than server.request_timeout; a change may still have been made. Send the request \
         again";
    /// The device has too little free space for a backup; nothing has changed.
    NoRoom = 507 "no_room", "a backup needs 1200 MiB free, and 700 MiB are free";
}

impl Code {
    /// Whether the same request may succeed soon, so that the answer has `Retry-After`.
    pub fn is_passing(self) -> bool {
        matches!(self.status(), 429 | 503)
    }

    /// `Content exists` for `content_exists`.
    pub fn title(self) -> String {
        let mut title = self.name().replace('_', " ");
        if let Some(first) = title.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        title
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error of this crate.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The request is refused; the caller gets the reason.
    #[error("{detail}")]
    Refused {
        /// The reason, for programs.
        code: Code,
        /// A sentence for people.
        detail: String,
    },
    /// The answer is not in memory, and the caller asked not to touch the disk.
    #[error("the answer is not in memory")]
    NotCached,
    /// Data on disk is not as it was written.
    #[error("corrupt data: {0}")]
    Corrupt(String),
    /// The storage engine failed.
    #[error("storage: {0}")]
    Storage(String),
    /// A part of the server panicked: a bug.
    #[error("panicked: {0}")]
    Panicked(String),
    /// The start or the stop failed: a setting, a directory, an address.
    #[error("{0}")]
    Setup(String),
    /// Any other fault of the server.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// An [`Error::Refused`].
    pub fn refused(code: Code, detail: impl fmt::Display) -> Self {
        Self::Refused { code, detail: detail.to_string() }
    }

    /// An [`Error::Internal`].
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self::Internal(cause.to_string())
    }

    /// This error, with a place in the request before the detail of a refusal.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        if let Self::Refused { detail, .. } = &mut self {
            *detail = format!("{place}: {detail}");
        }
        self
    }

    /// The refusal of a request for content that does not exist.
    pub fn content_not_found() -> Self {
        Code::ContentNotFound.into()
    }

    /// The code of a refusal.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Whether the status is 503: a queue is full, the server is stopping, the disk takes no writes, or the storage
    /// engine has stopped.
    pub fn is_unavailable(&self) -> bool {
        self.code().is_some_and(|code| code.status() == 503)
    }
}

impl From<Code> for Error {
    /// With the detail of the code itself.
    fn from(code: Code) -> Self {
        Self::refused(code, code.detail())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_words_in_the_order_of_their_statuses() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert!(Code::ALL.is_sorted_by_key(|code| code.status()));
        assert!(names.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')), "{names:?}");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        assert_eq!((Code::ContentExists.title().as_str(), Code::Timeout.is_passing()), ("Content exists", true));
    }
}
