//! `/v1/users/{uid}/export`: all that a user has.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use super::show;
use crate::api::Api;
use crate::call::Call;
use crate::call::pieces::{self, NextPiece};
use crate::endpoint::{Endpoint, Shape, get, group};
use crate::guards::auth::TokenUse;
use crate::wire::problem::Problem;
use crate::wire::reply::{Answer, Text};
use feed::{Export, Exported, Read, kinds};
use model::error::{Error, Result};
use model::{
    Audience, Barrier, HostId, HostIds, HostNoticeId, KindNames, Millis, Position, ShownId, Side, UserCursor, UserId,
};

const MEDIA_TYPE: &str = "application/x-ndjson";

/// The calls of this file.
pub(crate) fn endpoints() -> Vec<Endpoint> {
    let lines: Object = ObjectBuilder::new().schema_type(Type::String).build();
    let example = "{\"type\":\"reaction\",\"kind\":\"like\",\"content_id\":\"32850\",\"author_id\":\"200\"}\n{\"type\":\"end\"}\n";
    let calls = [get("/v1/users/{uid}/export", export, "exportUser", "All that a user has, as lines of JSON")
        .about(
            "A line for each thing, with its `type`: `profile`, `settings`, `suspension`, `marker`; `content` for each item and \
             comment, deleted ones included until they are purged; `reaction`; `following`, `follower`, `mute`, \
             `hidden_from`, `block`, `follow_request`, `sent_request`; `list`, `list_marker`, `list_member`; `notice_marker`, \
             `notice` with the actor as its `user_id`. The last line is \
             of the type `end`: without it the answer is incomplete. What changes meanwhile may be in it or not.",
        )
        .for_users(TokenUse::Own)
        .answers_in(MEDIA_TYPE, 200, "The lines", Shape::named("UserExport", lines), example.into())];
    group("users", calls)
}

/// A line, but for those of items.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Profile {
        user_id: &'a HostId,
        nickname: Option<&'a str>,
        avatar: Option<&'a str>,
        extra: Option<&'a RawValue>,
    },
    Settings {
        approve_followers: bool,
        default_audience: Audience,
    },
    Suspension {
        since: Millis,
    },
    Marker {
        cursor: Position<HostId>,
    },
    Reaction {
        kind: &'a str,
        content_id: ShownId<'a>,
        author_id: ShownId<'a>,
    },
    Following(Member<'a>),
    Follower(Member<'a>),
    Mute(Member<'a>),
    HiddenFrom(Member<'a>),
    Block(Member<'a>),
    FollowRequest(Member<'a>),
    SentRequest(Member<'a>),
    List {
        list: &'a str,
        title: Option<&'a str>,
        exclusive: bool,
    },
    ListMember {
        list: &'a str,
        #[serde(flatten)]
        member: Member<'a>,
    },
    ListMarker {
        list: &'a str,
        cursor: Position<HostId>,
    },
    NoticeMarker {
        cursor: Position<HostNoticeId>,
    },
    Notice {
        kind: &'static str,
        at: Millis,
        user_id: ShownId<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reaction: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        content_id: Option<ShownId<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        on: Option<ShownId<'a>>,
    },
    End {},
}

/// Another user, with the rule for it.
#[derive(Serialize)]
struct Member<'a> {
    user_id: ShownId<'a>,
    since: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    only: Option<KindNames>,
    #[serde(skip_serializing_if = "Option::is_none")]
    except: Option<KindNames>,
}

/// `GET /v1/users/{uid}/export`
async fn export(call: Call) -> Answer {
    let user = call.user()?;
    call.no_query()?;
    let place = call.api.limits.downloads.take(call.caller.holder, 1)?;
    let id: UserId = call.read_of(&user, |_, id| Ok(id)).await?;
    let mut response = HttpResponse::Ok();
    response.content_type(MEDIA_TYPE).insert_header((CONTENT_DISPOSITION, "attachment; filename=\"export.ndjson\""));
    let next = lines(Arc::clone(&call.api), user, call.viewer(None), Export::new(id));
    pieces::answer(&call.api, response, ("an export", None), place, next).await
}

/// The lines of an export, those of one read at a time.
fn lines(api: Arc<Api>, user: HostId, viewer: Option<HostId>, export: Export) -> NextPiece {
    let mut export = Some(export);
    Box::new(move || {
        let mut text = Text::new(None);
        while text.used() == 0
            && let Some(going_on) = &mut export
        {
            let read = api.feed().read().seen_by(viewer.as_ref())?;
            let written = match going_on.read_on(read)? {
                Some(found) => write(read, &user, found, &mut text),
                None => {
                    export = None;
                    line(&Line::End {}, &mut text)
                }
            };
            written?;
        }
        Ok(text.into_bytes())
    })
}

fn line(line: &Line<'_>, text: &mut Text) -> Result<(), Problem> {
    text.write(line)?;
    text.push("\n")
}

fn write(read: Read<'_>, user: &HostId, found: Vec<Exported>, text: &mut Text) -> Result<(), Problem> {
    let (found, ids) = read.named(found)?;
    for thing in &found {
        match thing {
            Exported::Item(item, deleted_at) => {
                text.push("{\"type\":\"content\",")?;
                if let Some(at) = deleted_at {
                    text.push("\"deleted_at\":")?;
                    text.number(*at)?;
                    text.push(",")?;
                }
                text.push("\"content\":")?;
                show::write_item(item, &ids, read.reaction_kinds(), text)?;
                text.push("}\n")?;
            }
            other => line(&shown(read, user, other, &ids)?, text)?,
        }
    }
    Ok(())
}

/// The line of a thing that is no item.
fn shown<'a>(read: Read<'a>, user: &'a HostId, thing: &'a Exported, ids: &'a HostIds) -> Result<Line<'a>> {
    let member = |user: &UserCursor, rule| -> Result<Member<'a>> {
        let (only, except) = kinds::rule_names(read, rule)?.fields();
        Ok(Member { user_id: ids.show(user.id), since: user.at, only, except })
    };
    Ok(match thing {
        Exported::Profile(profile) => {
            let raw = |text| serde_json::from_str(text).map_err(|e| Error::Corrupt(format!("profile {user}: {e}")));
            Line::Profile {
                user_id: user,
                nickname: profile.nickname.as_deref(),
                avatar: profile.avatar.as_deref(),
                extra: profile.extra.as_deref().map(raw).transpose()?,
            }
        }
        Exported::Settings(settings) => Line::Settings {
            approve_followers: settings.approve_followers,
            default_audience: settings.default_audience,
        },
        Exported::Suspension(since) => Line::Suspension { since: *since },
        Exported::Marker(place) => Line::Marker { cursor: ids.place(*place) },
        Exported::Reaction(kind, entry) => Line::Reaction {
            kind: read.reaction_kinds().name(*kind),
            content_id: ids.show(entry.cursor.id),
            author_id: ids.show(entry.author),
        },
        Exported::Member(side, user, rule) => {
            let line = match side {
                Side::Following => Line::Following,
                Side::Followers | Side::Friends => Line::Follower,
                Side::Barred(Barrier::Mute) => Line::Mute,
                Side::Barred(Barrier::Hide) => Line::HiddenFrom,
                Side::Barred(Barrier::Block) => Line::Block,
                Side::FollowRequests => Line::FollowRequest,
                Side::SentRequests => Line::SentRequest,
            };
            line(member(user, *rule)?)
        }
        Exported::List(list) => {
            Line::List { list: &list.name, title: list.settings.title.as_deref(), exclusive: list.settings.exclusive }
        }
        Exported::ListMember(list, user, rule) => Line::ListMember { list, member: member(user, *rule)? },
        Exported::ListMarker(list, place) => Line::ListMarker { list, cursor: ids.place(*place) },
        Exported::NoticeMarker(place) => Line::NoticeMarker { cursor: ids.notice(*place) },
        Exported::Notice(notice) => Line::Notice {
            kind: notice.place.id.kind.name(),
            at: notice.place.at,
            user_id: ids.show(notice.place.id.actor),
            reaction: notice.reaction.map(|kind| read.reaction_kinds().name(kind)),
            content_id: notice.published().map(|id| ids.show(id)),
            on: notice.subject().map(|id| ids.show(id)),
        },
        Exported::Item(..) => return Err(Error::Corrupt("an item is no line of its own kind".to_owned())),
    })
}
