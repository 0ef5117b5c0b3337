//! What the files of a community lack: restrictions, a group, a list, requests to follow and a suspended user.

use serde_json::json;

use super::Community;
use super::life::request;
use super::people::{MUTED, READER, SWIMMERS, cast};
use feed::{
    ChangeMembers, Feed, PublishItems, PutList, PutSettings, Relate, SetRestriction, SetSuspension, follows, users,
};
use model::error::Result;
use model::{Audience, HostId, ListSettings, ProfileDraft, Restriction, RuleDraft, UserSettings};

/// Users who ask to join the group.
const APPLICANTS: usize = 2;
/// What the swimmers wrote in the group before the demo began.
const NOTES: [&str; SWIMMERS.len()] = [
    "Six degrees. Felt like five. Cinnamon buns at the steps afterwards.",
    "The ladder on the north side is mended. Mind the seaweed on the third step.",
    "الأحد في السابعة عند درج المنارة. أحضروا شيئًا ساخنًا.",
];

/// Makes all of it, once. A community of a few users gets only restrictions.
pub(super) fn prepare(feed: &Feed, community: &Community) -> Result<()> {
    raise_restrictions(feed, community)?;
    // The reader hides from the first two strangers, or blocks them.
    let [private, suspended, applicant] = [2, 3, 4].map(|number| cast() + number);
    let applicants = applicant..applicant + APPLICANTS;
    if applicants.end > community.users as usize {
        return Ok(());
    }
    let ask = |user: usize, target: HostId| {
        feed.submit(Relate::of(community.host_user(user)?, vec![(target, None)], Vec::new())).map(drop)
    };
    found_group(feed, community)?;
    applicants.into_iter().try_for_each(|user| ask(user, community.group()?))?;
    let private = community.host_user(private)?;
    feed.submit(PutSettings { user: private.clone(), settings: FOR_FOLLOWERS })?;
    // Who follows already does not ask.
    follows::remove_follower(feed, &private, &community.host_user(READER)?)?;
    ask(READER, private)?;
    feed.submit(SetSuspension { user: community.host_user(suspended)?, suspended: true })?;

    let (reader, list) = (community.host_user(READER)?, "neighbours");
    let settings = ListSettings { title: Some("Neighbours".to_owned()), exclusive: false };
    feed.submit(PutList { user: reader.clone(), list: list.to_owned(), settings })?;
    let members = SWIMMERS.iter().map(|user| community.host_user(*user)).collect::<Result<_>>()?;
    feed.submit(ChangeMembers { user: reader, list: list.to_owned(), add: members, remove: Vec::new(), rule: None })
        .map(drop)
}

/// Settings of a private account.
const FOR_FOLLOWERS: UserSettings = UserSettings { approve_followers: true, default_audience: Audience::Followers };

/// A group whose members are its followers: it approves them, and its items are for them only.
fn found_group(feed: &Feed, community: &Community) -> Result<()> {
    let group = community.group()?;
    let bio = "We swim before breakfast, all year. Ask to join.";
    let profile: ProfileDraft = request(json!({"nickname": "Cold Water Club", "extra": {"bio": bio}}))?;
    users::put_profile(feed, group.clone(), profile.into())?;
    feed.submit(PutSettings { user: group.clone(), settings: FOR_FOLLOWERS })?;
    for user in SWIMMERS.into_iter().chain([READER]) {
        follows::follow(feed, community.host_user(user)?, group.clone(), None, RuleDraft::default(), true)?;
    }
    for (user, text) in SWIMMERS.into_iter().zip(NOTES) {
        let author = community.host_user(user)?;
        let note =
            json!({"author_id": author, "text": text, "to": [group], "broadcast": false, "audience": "followers"});
        feed.submit(PublishItems::all(vec![request(note)?]))?;
    }
    Ok(())
}

/// The reader mutes a followee, hides from a user and blocks another.
fn raise_restrictions(feed: &Feed, community: &Community) -> Result<()> {
    for (target, restriction) in
        [(MUTED, Restriction::Mute), (cast(), Restriction::Hide), (cast() + 1, Restriction::Block)]
    {
        if target < community.users as usize {
            let (user, target) = (community.host_user(READER)?, community.host_user(target)?);
            feed.submit(SetRestriction { user, target, restriction, raised: true })?;
        }
    }
    Ok(())
}
