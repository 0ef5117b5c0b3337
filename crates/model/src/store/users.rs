//! Users: follows, barriers, inboxes, activity, and other records of a user.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::store::{Barred, Change, Delivery, Idle, Related, Split, Tier, Touched};
use crate::{
    Activity, Barrier, ContentId, Cursor, Entry, Event, Job, JobId, Millis, Order, Profile, Reach, Relation, Scan,
    ShownSources, Side, Span, Unpushed, UserCounts, UserCursor, UserId, UserSettings,
};

/// The follow graph.
pub trait Graph {
    /// Applies follows and unfollows of one user. For each pair that changes, writes the relation in both directions,
    /// the counts, the friends rows and a settle job; all pairs in one change. A follow whose [`Approval`] is not given may
    /// become a request, without a job; another follow ends the request that waits. An unfollow ends a request, too. A pair
    /// already in the wanted state keeps its `since` and gets no job; its rule may change. Targets must differ from each
    /// other and from the user. Refused, and nothing written: with `blocked` if there is a block between the user and one
    /// to follow, with `follow_limit` if the user's follows and requests together would be more than `follow_limit` and
    /// more than before. Acknowledges.
    ///
    /// [`Approval`]: crate::store::Approval
    fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>>;

    /// Answers the request of a user to follow `target`: makes the follow since a time, as [`Graph::relate`] does, or ends
    /// only the request. `None`, and nothing written, if no request waits. Acknowledges.
    fn answer_request(&self, target: UserId, user: UserId, follow: Option<Millis>) -> Result<Option<Related>>;

    /// The relations of a user to `targets`, in their order.
    fn relations(&self, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>>;

    /// All followees of a user, ascending.
    fn followees(&self, user: UserId, tier: Tier) -> Result<Vec<UserId>>;

    /// Users of one side of the graph, by `since`.
    fn members(&self, user: UserId, side: Side, scan: Scan<UserId>, tier: Tier) -> Result<Vec<UserCursor>>;

    /// Up to `limit` followers with ids above `after`, ascending.
    fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;

    /// The counts of a user.
    fn user_counts(&self, user: UserId, tier: Tier) -> Result<UserCounts>;

    /// The number of the author's followers.
    fn follower_count(&self, author: UserId) -> Result<u64>;
}

/// Barriers. They are applied when a timeline is read; inboxes keep their rows. [`Graph::members`] has the
/// lists by time.
pub trait Barriers {
    /// Raises a barrier of a user against a target since a time, or lifts it (`None`); returns the relation afterwards.
    /// A standing barrier keeps its `since`. A block that is raised ends the follows and requests between the two in the same
    /// change, as unfollows do. Refused with the barrier's own code, and nothing written, if the user would have more than `limit`
    /// of the kind. Acknowledges.
    fn set_barrier(
        &self,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    ) -> Result<Barred>;

    /// The authors whose content a reader sees, ascending: the followees, less those whom the reader mutes, those who hide
    /// from the reader, those with a block between, and the members of the reader's exclusive lists. All of these are of
    /// one instant. Costs no more than a few look-ups for each
    /// followee, however many barriers there are, and next to nothing if there are none. With the rules of the follows, and
    /// with the authors whom the reader silences.
    fn authors(&self, reader: UserId, tier: Tier) -> Result<ShownSources>;

    /// Those of `users` whose content a reader sees, as [`Barriers::authors`] has them. Each comes once.
    fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<ShownSources>;

    /// For each pair of a reader and an author, whether the reader *silences* the author, so is shown nothing of the author
    /// on any path: the reader mutes the author, the author hides from the reader, or a block lies between. As of one
    /// instant.
    fn silences(&self, pairs: &[(UserId, UserId)], tier: Tier) -> Result<Vec<bool>>;

    /// Those of `users` who hide from a reader, in their order.
    fn hiders_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>>;

    /// Those of `users` whom a user has blocked, or who have blocked the user, in their order. As of one instant.
    fn blocked_among(&self, user: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>>;

    /// Up to `limit` users above `after` against whom a user has a barrier, ascending.
    fn barred_after(&self, user: UserId, barrier: Barrier, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;

    /// Up to `limit` users above `after` who hide from a reader, ascending.
    fn hiders_after(&self, reader: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;
}

/// Inboxes and jobs. The caller runs the jobs of one lane one after the other; only [`Inboxes::deliver`] may run in
/// parallel, for different recipients of one job.
pub trait Inboxes {
    /// Visits the entries of an inbox above its floor within `span`, in `order`, until `visit` breaks. Returns the
    /// floor, at or below which the inbox claims nothing; `None` means that the inbox is complete. Floor and rows are
    /// of one instant.
    ///
    /// An inbox that cannot be read has its floor at [`Cursor::NEWEST`]. That may show only after some entries were
    /// visited: entries at or below the floor do not count.
    fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        tier: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>>;

    /// Raises the floor of an inbox; never lowers it. Merges and settles also raise floors themselves.
    fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()>;

    /// Records the reach of an item before the first recipient is chosen, and for a reach short of all the author's
    /// [`Unpushed`](crate::Unpushed).
    fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()>;

    /// Puts an entry into inboxes and records the job's progress or end. Reads see the entry at once. On disk, the
    /// record of a job never comes before the entries; both may come much later.
    fn deliver(&self, delivery: &Delivery<'_>) -> Result<()>;

    /// Makes a user's entries of one source agree with the present relation, and ends the job, like
    /// [`Inboxes::deliver`]. A follower gets the source's newest `room` entries above the floor; if there are more, the
    /// floor rises to the first one left out. A user who does not follow loses all entries. Returns how many entries
    /// above the floor changed.
    fn settle(&self, job: JobId, user: UserId, source: UserId, room: usize) -> Result<usize>;

    /// Ends a job that has nothing left to do, once its entries are on disk.
    fn drop_job(&self, job: JobId) -> Result<()>;

    /// Writes what [`Inboxes::deliver`] and [`Inboxes::settle`] have in memory, and the records of their jobs. After an
    /// error the next call, or a delivery, tries it again.
    fn write_arrivals(&self) -> Result<()>;

    /// Drops the inboxes that reads found damaged, and evicts their users, so that their next reads rebuild the inboxes.
    fn drop_damaged_inboxes(&self) -> Result<()>;

    /// All jobs on disk, by lane, then by age, oldest first.
    fn jobs(&self) -> Result<Vec<Job>>;
}

/// Users' activity, and authors' unpushed items.
pub trait Activities {
    /// The activity of a user.
    fn activity(&self, user: UserId, tier: Tier) -> Result<Activity>;

    /// Records the time of a new user's first appearance, unless the user has an activity already. From that time on
    /// the user counts as idle; see [`Activities::idle`].
    fn meet(&self, user: UserId, now: Millis) -> Result<()>;

    /// Records that a new user has no inbox here, unless the user has an activity already: the user counts as evicted.
    fn keep_no_inbox(&self, user: UserId) -> Result<()>;

    /// Marks a user as seen. A dormant or evicted user becomes returning, with a rebuild job in the same change. Calls
    /// for one user apply one after the other, also with [`Activities::split_active`] and [`Activities::evict`].
    fn touch(&self, user: UserId, now: Millis) -> Result<Touched>;

    /// Selects the users that get partial pushes. Those last seen before `seen_since` become dormant instead; the new
    /// state is visible before this returns.
    fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split>;

    /// Leaves out evicted users. Costs next to nothing if there are none.
    fn not_evicted(&self, users: Vec<UserId>) -> Result<Vec<UserId>>;

    /// Finds, among the next `limit` users above `after`, those who have an inbox and were last seen, or first
    /// appeared, before `seen_before`.
    fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle>;

    /// Evicts a user last seen before `seen_before` and raises the inbox's floor to `floor`, if any, in one change. False,
    /// and nothing changed, if the user was seen since or has no inbox.
    fn evict(&self, user: UserId, seen_before: Millis, floor: Option<Cursor>) -> Result<bool>;

    /// Rebuilds an inbox, in one change: puts in the newest `room` entries of the outboxes of those of `authors` whom
    /// the user follows, as far as they lie above the floor, makes the user active, and removes the job. If there are more
    /// entries, the floor rises to the first one left out. If the user is not returning because of this job, only
    /// removes it: the user has been dormant again, and `authors` may be out of date. No follow or unfollow of the user
    /// takes effect meanwhile. Returns how many entries were put in, or were there already.
    fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId], room: usize) -> Result<usize>;

    /// The author's newest items that did not reach every follower.
    fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed>;

    /// A number that differs once an author may have unpushed items who was not one of [`Activities::may_have_unpushed`]
    /// before.
    fn unpushed_version(&self) -> u64;

    /// Those of `authors` who may have unpushed items, in their order. It is all of them while
    /// [`Activities::unpushed_version`] is the number returned.
    fn may_have_unpushed(&self, authors: &[UserId]) -> (u64, Vec<UserId>);

    /// Those of `authors` of whom an inbox with this floor may lack entries above it; see [`Unpushed::leaves_gaps`]. In
    /// any order. Costs next to nothing for authors without unpushed items.
    fn authors_with_unpushed(
        &self,
        authors: &[UserId],
        floor: Option<Cursor>,
        active: bool,
        tier: Tier,
    ) -> Result<Vec<UserId>>;
}

/// Tables of one row a user: profiles, settings, and markers, the places up to which users have read.
pub trait Records {
    /// Replaces a user's whole profile. Acknowledges.
    fn put_profile(&self, user: UserId, profile: &Profile) -> Result<()> {
        self.put_profiles(&[(user, profile.clone())])
    }

    /// Replaces the profiles of several users in one change; if a user occurs twice, the later profile counts. Acknowledges.
    fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()>;

    /// The users with a nickname in which one of its [`beginnings`](crate::nickname::beginnings) begins with `text`, which
    /// is folded: in the order of these beginnings, then of the users, who may come more than once. The first `limit`.
    fn users_named(&self, text: &str, limit: usize) -> Result<Vec<UserId>>;

    /// The profiles of `users`, in their order; `None` for a user without one.
    fn profiles(&self, users: &[UserId], tier: Tier) -> Result<Vec<Option<Profile>>>;

    /// Replaces a user's settings. A follow that begins after it goes by them. Acknowledges.
    fn put_settings(&self, user: UserId, settings: UserSettings) -> Result<()>;

    /// The settings of a user; the default for a user without any.
    fn settings(&self, user: UserId, tier: Tier) -> Result<UserSettings>;

    /// The place in the home timeline up to which a user has read; `None` until one was set.
    fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>>;

    /// Moves a user's marker up to `place` and returns its place afterwards. If it is there or beyond, nothing is
    /// written; but from `wrong`, if that is given, it moves back, too. Moves of one user apply one after the other.
    /// Acknowledges.
    fn move_marker(&self, user: UserId, place: Cursor, wrong: Option<Cursor>) -> Result<Cursor>;

    /// Suspends a user from a time on, or takes that back (`None`), with the event in the same change. Returns whether
    /// anything changed: a suspended user keeps its time. Acknowledges.
    fn set_suspension(&self, user: UserId, since: Option<Millis>, event: Event) -> Result<bool>;

    /// Since when a user is suspended; `None` for all others.
    fn suspended_since(&self, user: UserId, tier: Tier) -> Result<Option<Millis>>;

    /// The suspended ones among `users` and those who are being erased, each once, ascending. Costs next to nothing if there
    /// are none.
    fn suspended_among(&self, users: &mut dyn Iterator<Item = UserId>, tier: Tier) -> Result<Vec<UserId>>;
}
