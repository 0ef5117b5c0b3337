//! Users: whom they follow and bar, their inboxes, and what else is kept of each.

use std::ops::ControlFlow;

use crate::error::Result;
use crate::model::{
    Activity, Barrier, ContentId, Cursor, Entry, Job, JobId, Millis, Order, Profile, Reach, Relation, Side, Span,
    Unpushed, UserCounts, UserCursor, UserId,
};
use crate::store::{Change, Delivery, Idle, Related, Split, Tier, Touched};

/// The follow graph.
pub trait Graph {
    /// Applies follows and unfollows of one user. For each pair that changes: the relation in both
    /// directions, the counts, the friends rows and a settle job, all pairs in one change. A pair
    /// that already is as asked keeps its `since` and makes no job. Targets must differ from each
    /// other and from the user. Refused with `follow_limit` and nothing written when the user
    /// would follow more than `follow_limit` afterwards and more than before. Acknowledges.
    fn relate(&self, user: UserId, changes: &[Change], follow_limit: usize) -> Result<Vec<Related>>;

    /// The relations of a user to `targets`, in their order.
    fn relations(&self, user: UserId, targets: &[UserId], tier: Tier) -> Result<Vec<Relation>>;

    /// All whom a user follows, ascending.
    fn followees(&self, user: UserId, tier: Tier) -> Result<Vec<UserId>>;

    /// The first `limit` users of one side of the graph within `span`, in `order` of `since`.
    fn members(
        &self,
        user: UserId,
        side: Side,
        span: Span<UserId>,
        order: Order,
        limit: usize,
        tier: Tier,
    ) -> Result<Vec<UserCursor>>;

    /// Up to `limit` followers with ids above `after`, ascending.
    fn followers_after(&self, author: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;

    /// What is counted of a user.
    fn user_counts(&self, user: UserId, tier: Tier) -> Result<UserCounts>;

    /// How many follow the author.
    fn follower_count(&self, author: UserId) -> Result<u64>;
}

/// Mutes, and hiding from others. They are applied when a timeline is read; inboxes keep their rows. The lists by
/// time are [`Graph::members`].
pub trait Barriers {
    /// Raises a barrier of a user against a target since then, or lifts it (`None`); the relation
    /// afterwards. One that stands keeps its `since`. Refused with the barrier's own code, and nothing
    /// written, when the user would have more than `limit` of the kind. Acknowledges.
    fn set_barrier(
        &self,
        user: UserId,
        target: UserId,
        barrier: Barrier,
        since: Option<Millis>,
        limit: usize,
    ) -> Result<Relation>;

    /// Whose content a reader is shown, ascending: the followees, less those whom the reader has muted
    /// and those who hide from the reader. Follows and barriers are of one instant. Costs no more than a
    /// few looks for each followee, however many barriers there are, and next to nothing where there is none.
    fn authors(&self, reader: UserId, tier: Tier) -> Result<Vec<UserId>>;

    /// Those of some users whose content a reader is shown, in their order; as [`Barriers::authors`] has them.
    fn authors_among(&self, reader: UserId, users: &[UserId], tier: Tier) -> Result<Vec<UserId>>;

    /// Up to `limit` users above `after` against whom a user has raised a barrier, ascending.
    fn barred_after(&self, user: UserId, barrier: Barrier, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;

    /// Up to `limit` users above `after` who hide from a reader, ascending.
    fn hiders_after(&self, reader: UserId, after: Option<UserId>, limit: usize) -> Result<Vec<UserId>>;
}

/// Inboxes and jobs. The caller runs the jobs of one lane one after the other, except [`Inboxes::deliver`] for
/// different recipients of one job.
pub trait Inboxes {
    /// Walks an inbox above its floor within `span`, in `order`, until `visit` breaks.
    /// Returns the floor: at or below it the inbox makes no claim; `None` means that it is complete
    /// to its end. Floor and rows are of one instant.
    fn inbox(
        &self,
        user: UserId,
        span: Span<ContentId>,
        order: Order,
        tier: Tier,
        visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
    ) -> Result<Option<Cursor>>;

    /// Raises the floor of an inbox; a lower floor than the present one changes nothing.
    fn raise_floor(&self, user: UserId, floor: Cursor) -> Result<()>;

    /// Records who will get an item, before the first recipient is chosen, and with it the
    /// author's [`Unpushed`](crate::model::Unpushed) for a reach short of all.
    fn begin_fan_out(&self, job: JobId, entry: Entry, reach: Reach) -> Result<()>;

    /// Puts an entry into inboxes, with the job's progress or its end, in one change.
    fn deliver(&self, delivery: &Delivery<'_>) -> Result<()>;

    /// Makes a user's entries of one author agree with the present relation, and ends the job, in
    /// one change. A follower gets the author's newest `room` entries above the floor; if there are
    /// more, the floor rises to the first that was left out. Who does not follow loses them all.
    /// Returns how many rows above the floor changed.
    fn settle(&self, job: JobId, user: UserId, author: UserId, room: usize) -> Result<usize>;

    /// Ends a job that has nothing left to do.
    fn drop_job(&self, job: JobId) -> Result<()>;

    /// All jobs on disk, by lane, then oldest first.
    fn jobs(&self) -> Result<Vec<Job>>;
}

/// Users' activity, and authors' unpushed items.
pub trait Activities {
    /// What is known of a user's activity.
    fn activity(&self, user: UserId, tier: Tier) -> Result<Activity>;

    /// Notes when a user was first heard of, unless something is known already. From then on the
    /// user counts as idle; see [`Activities::idle`].
    fn meet(&self, user: UserId, now: Millis) -> Result<()>;

    /// Marks a user as seen. One who was dormant or evicted becomes returning, with a rebuild job in
    /// the same change. Two calls for one user apply one after the other, also against
    /// [`Activities::split_active`] and [`Activities::evict`].
    fn touch(&self, user: UserId, now: Millis) -> Result<Touched>;

    /// Splits off the users that get partial pushes, and makes dormant those of them that were last
    /// seen before `seen_since`. The new state is visible before this returns.
    fn split_active(&self, users: &[UserId], seen_since: Millis) -> Result<Split>;

    /// Leaves out the evicted. Nearly free where nobody is.
    fn not_evicted(&self, users: Vec<UserId>) -> Result<Vec<UserId>>;

    /// Looks through the next `limit` users above `after` for those who have an inbox and were last
    /// seen, or first heard of, before `seen_before`.
    fn idle(&self, after: Option<UserId>, limit: usize, seen_before: Millis) -> Result<Idle>;

    /// Drops the inbox of a user last seen before `seen_before`: evicted, and the floor raised to
    /// `floor`, in one change. False, and nothing changed, if the user was seen since or has none.
    fn evict(&self, user: UserId, seen_before: Millis, floor: Cursor) -> Result<bool>;

    /// Ends a rebuild: a settle job for each of `authors`, the user active, the rebuild job gone, in
    /// one change. Does only the last if it is not this job for which the user is returning: the
    /// user has been dormant again, and `authors` may be out of date. Returns the new jobs.
    fn rebuild(&self, job: JobId, user: UserId, authors: &[UserId]) -> Result<Vec<Job>>;

    /// The author's newest items that did not reach every follower.
    fn unpushed(&self, author: UserId, tier: Tier) -> Result<Unpushed>;

    /// Those of `authors` of whom an inbox with this floor may lack something above it; see
    /// [`Unpushed::leaves_gaps`]. Nearly free for authors who have nothing unpushed. In any order.
    fn lacking(&self, authors: &[UserId], floor: Option<Cursor>, active: bool, tier: Tier) -> Result<Vec<UserId>>;
}

/// Tables of one row a user: profiles, and markers, which say how far a user has read.
pub trait Records {
    /// Puts a profile in place of what the user had, whole. Acknowledges.
    fn put_profile(&self, user: UserId, profile: &Profile) -> Result<()> {
        self.put_profiles(&[(user, profile.clone())])
    }

    /// The same for several users in one change; of one who comes twice, the later counts. Acknowledges.
    fn put_profiles(&self, profiles: &[(UserId, Profile)]) -> Result<()>;

    /// The profiles of `users`, in their order; `None` of who never had one.
    fn profiles(&self, users: &[UserId], tier: Tier) -> Result<Vec<Option<Profile>>>;

    /// The place in the home timeline up to which a user has read; `None` until one was set.
    fn marker(&self, user: UserId, tier: Tier) -> Result<Option<Cursor>>;

    /// Moves a user's marker up to `place` and returns where it then is; one that is there already, or
    /// beyond, stays and nothing is written. Moves of one user apply one after the other. Acknowledges.
    fn move_marker(&self, user: UserId, place: Cursor) -> Result<Cursor>;

    /// Puts a user's marker from `present` to `place`, back too, or takes it away, and returns where it then is. One
    /// that is not at `present` stays. Acknowledges.
    fn confirm_marker(&self, user: UserId, present: Cursor, place: Option<Cursor>) -> Result<Option<Cursor>>;
}
