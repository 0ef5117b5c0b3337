//! Rows of tables whose lines are changes of their own: settings, relations that are no follows, lists,
//! markers and suspensions.

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Column, Columns, Field, FollowObject, INVALID_FIELD, Refusal, Row, Store, id, needed, object, rule, time};
use feed::{Feed, Line};
use model::{
    Audience, Barrier, HostId, KindNames, ListSettings, Millis, RuleDraft, Time, UserSettings, is_topic, kinds_of_rule,
};

/// A row of the table `T`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineOf<T>(Line, PhantomData<fn() -> T>);

/// A table of such rows.
pub(crate) trait Lines: 'static {
    const TABLE: &'static str;
    const COLUMNS: &'static [Column];
    /// The names and the types of the fields.
    type Object: DeserializeOwned;

    /// From the fields of a CSV record: the name and the text of a column.
    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<Self::Object, Refusal>;

    fn line(object: Self::Object) -> Result<Line, Refusal>;
}

impl<T: Lines> Row for LineOf<T> {
    const TABLE: &'static str = T::TABLE;
    const STORE: Store<Self> = |feed: &Feed, rows| feed.import_lines(rows.into_iter().map(|row| row.0).collect());
    const COLUMNS: &'static [Column] = T::COLUMNS;

    fn from_fields(columns: &Columns, fields: &[Field<'_>]) -> Result<Self, Refusal> {
        columns.check(fields)?;
        let field = |column: usize| (T::COLUMNS[column].0, columns.get(fields, column));
        Ok(Self(T::line(T::of_fields(field)?)?, PhantomData))
    }

    fn from_json(text: &str) -> Result<Self, Refusal> {
        Ok(Self(T::line(object(text)?)?, PhantomData))
    }

    fn time(&self) -> Option<Millis> {
        self.0.since()
    }

    fn ids(&self) -> impl Iterator<Item = &HostId> {
        self.0.ids()
    }
}

/// A table of barriers: of pairs of users, whose lines have no rules.
pub(crate) trait Barriers: 'static {
    const TABLE: &'static str;
    const BARRIER: Barrier;
}

impl<T: Barriers> Lines for T {
    const TABLE: &'static str = T::TABLE;
    const COLUMNS: &'static [Column] = super::PAIR;
    type Object = PairObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<PairObject, Refusal> {
        let since = time(field(2))?.map(Time);
        Ok(PairObject { user_id: id(field(0))?, target_id: id(field(1))?, since })
    }

    fn line(PairObject { user_id, target_id, since }: PairObject) -> Result<Line, Refusal> {
        let since = since.map(|Time(since)| since);
        Ok(Line::Barrier { user: user_id, target: target_id, barrier: T::BARRIER, since })
    }
}

/// The tables of barriers.
macro_rules! barriers {
    ($($rows:ident = $table:literal, $barrier:expr;)+) => {$(
        #[derive(Debug, PartialEq, Eq)]
        pub(crate) struct $rows;

        impl Barriers for $rows {
            const TABLE: &'static str = $table;
            const BARRIER: Barrier = $barrier;
        }
    )+};
}

barriers! {
    Mutes = "mutes", Barrier::Mute;
    Hides = "hides", Barrier::Hide;
    Blocks = "blocks", Barrier::Block;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairObject {
    user_id: HostId,
    target_id: HostId,
    #[serde(default)]
    since: Option<Time>,
}

/// Who has asked to follow whom.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Requests;

impl Lines for Requests {
    const TABLE: &'static str = "requests";
    const COLUMNS: &'static [Column] = super::PAIR;
    type Object = FollowObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<FollowObject, Refusal> {
        let since = time(field(2))?.map(Time);
        Ok(FollowObject { user_id: id(field(0))?, target_id: id(field(1))?, since, only: None, except: None })
    }

    fn line(FollowObject { user_id, target_id, since, only, except }: FollowObject) -> Result<Line, Refusal> {
        let since = since.map(|Time(since)| since);
        Ok(Line::Request { user: user_id, target: target_id, since, rule: some(rule(only, except)?) })
    }
}

/// Settings of users.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsObject {
    user_id: HostId,
    #[serde(default)]
    approve_followers: Option<bool>,
    #[serde(default)]
    default_audience: Option<Audience>,
}

impl Lines for Settings {
    const TABLE: &'static str = "settings";
    const COLUMNS: &'static [Column] = &[("user_id", true), ("approve_followers", false), ("default_audience", false)];
    type Object = SettingsObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<SettingsObject, Refusal> {
        let (name, audience) = field(2);
        let read = |text| {
            Audience::try_from(str::to_owned(text))
                .map_err(|_| Refusal::of_field(INVALID_FIELD, name, "expected public or followers", text))
        };
        let default_audience = audience.map(read).transpose()?;
        Ok(SettingsObject { user_id: id(field(0))?, approve_followers: flag(field(1))?, default_audience })
    }

    fn line(SettingsObject { user_id, approve_followers, default_audience }: SettingsObject) -> Result<Line, Refusal> {
        let settings = UserSettings {
            approve_followers: approve_followers.unwrap_or_default(),
            default_audience: default_audience.unwrap_or_default(),
        };
        Ok(Line::Settings { user: user_id, settings })
    }
}

/// Lists of users.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lists;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListObject {
    user_id: HostId,
    list: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    exclusive: Option<bool>,
}

impl Lines for Lists {
    const TABLE: &'static str = "lists";
    const COLUMNS: &'static [Column] = &[("user_id", true), ("list", true), ("title", false), ("exclusive", false)];
    type Object = ListObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<ListObject, Refusal> {
        let title = field(2).1.map(str::to_owned);
        Ok(ListObject { user_id: id(field(0))?, list: needed(field(1))?, title, exclusive: flag(field(3))? })
    }

    fn line(ListObject { user_id, list, title, exclusive }: ListObject) -> Result<Line, Refusal> {
        let settings = ListSettings::checked(title, exclusive.unwrap_or_default());
        let settings = settings.map_err(|reason| Refusal::of_line(INVALID_FIELD, reason))?;
        Ok(Line::List { user: user_id, list: list_name(list)?, settings })
    }
}

/// Members of lists.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Members;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemberObject {
    user_id: HostId,
    list: String,
    source_id: HostId,
    #[serde(default)]
    since: Option<Time>,
    #[serde(default, deserialize_with = "kinds_of_rule")]
    only: Option<KindNames>,
    #[serde(default, deserialize_with = "kinds_of_rule")]
    except: Option<KindNames>,
}

impl Lines for Members {
    const TABLE: &'static str = "list-members";
    const COLUMNS: &'static [Column] = &[("user_id", true), ("list", true), ("source_id", true), ("since", false)];
    type Object = MemberObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<MemberObject, Refusal> {
        Ok(MemberObject {
            user_id: id(field(0))?,
            list: needed(field(1))?,
            source_id: id(field(2))?,
            since: time(field(3))?.map(Time),
            only: None,
            except: None,
        })
    }

    fn line(MemberObject { user_id, list, source_id, since, only, except }: MemberObject) -> Result<Line, Refusal> {
        let (since, rule) = (since.map(|Time(since)| since), some(rule(only, except)?));
        Ok(Line::Member { user: user_id, list: list_name(list)?, source: source_id, since, rule })
    }
}

/// Markers of home timelines, of lists and of notices.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Markers;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarkerObject {
    user_id: HostId,
    cursor: String,
    #[serde(default)]
    list: Option<String>,
    #[serde(default)]
    notices: Option<bool>,
}

impl Lines for Markers {
    const TABLE: &'static str = "markers";
    const COLUMNS: &'static [Column] = &[("user_id", true), ("cursor", true), ("list", false), ("notices", false)];
    type Object = MarkerObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<MarkerObject, Refusal> {
        let (list, notices) = (field(2).1.map(str::to_owned), flag(field(3))?);
        Ok(MarkerObject { user_id: id(field(0))?, cursor: needed(field(1))?, list, notices })
    }

    fn line(MarkerObject { user_id: user, cursor, list, notices }: MarkerObject) -> Result<Line, Refusal> {
        let list = list.map(list_name).transpose()?;
        let place = ("cursor", Some(cursor.as_str()));
        match (notices.unwrap_or_default(), list) {
            (true, Some(_)) => Err(Refusal::of_line(INVALID_FIELD, "list and notices: give one of them, or none")),
            (true, None) => Ok(Line::NoticeMarker { user, place: needed(place)? }),
            (false, list) => Ok(Line::Marker { user, place: needed(place)?, list }),
        }
    }
}

/// Suspended users.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Suspensions;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SuspensionObject {
    user_id: HostId,
    #[serde(default)]
    since: Option<Time>,
}

impl Lines for Suspensions {
    const TABLE: &'static str = "suspensions";
    const COLUMNS: &'static [Column] = &[("user_id", true), ("since", false)];
    type Object = SuspensionObject;

    fn of_fields<'f>(field: impl Fn(usize) -> (&'static str, Option<&'f str>)) -> Result<SuspensionObject, Refusal> {
        Ok(SuspensionObject { user_id: id(field(0))?, since: time(field(1))?.map(Time) })
    }

    fn line(SuspensionObject { user_id, since }: SuspensionObject) -> Result<Line, Refusal> {
        Ok(Line::Suspension { user: user_id, since: since.map(|Time(since)| since) })
    }
}

/// A rule that does not show all kinds.
fn some(rule: RuleDraft) -> Option<RuleDraft> {
    Some(rule).filter(|rule| *rule != RuleDraft::All)
}

/// The name of a list.
fn list_name(name: String) -> Result<String, Refusal> {
    match is_topic(&name) {
        true => Ok(name),
        false => Err(Refusal::of_field(INVALID_FIELD, "list", "expected 1 to 64 characters", &name)),
    }
}

/// A truth value in CSV, in the words of common databases.
pub(super) fn flag((name, field): (&str, Option<&str>)) -> Result<Option<bool>, Refusal> {
    field
        .map(|text| match text {
            "true" | "t" | "1" => Ok(true),
            "false" | "f" | "0" => Ok(false),
            _ => Err(Refusal::of_field(INVALID_FIELD, name, "expected true or false", text)),
        })
        .transpose()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::{csv, number, refused};
    use super::*;

    fn line<T: Lines>(line: Line) -> Result<LineOf<T>, Refusal> {
        Ok(LineOf(line, PhantomData))
    }

    /// Both forms of a row give a line.
    pub(in super::super) fn both<T: Lines + std::fmt::Debug + PartialEq>(record: &str, object: &str, expected: &Line) {
        assert_eq!(csv(record), line::<T>(expected.clone()), "{record}");
        assert_eq!(LineOf::<T>::from_json(object), line(expected.clone()), "{object}");
    }

    fn posts(is_only: bool) -> RuleDraft {
        RuleDraft::named(is_only, vec!["post".to_owned()]).expect("a kind")
    }

    #[test]
    fn pairs_are_read_from_both_formats() {
        let barrier = |barrier, since| Line::Barrier { user: number(1), target: number(2), barrier, since };
        let (bare, whole) = (r#"{"user_id":1,"target_id":"2"}"#, r#"{"since":5,"user_id":1,"target_id":"2"}"#);
        both::<Mutes>("1,2", bare, &barrier(Barrier::Mute, None));
        both::<Mutes>("1,2,5", whole, &barrier(Barrier::Mute, Some(5)));
        both::<Hides>("1,2,5", whole, &barrier(Barrier::Hide, Some(5)));
        both::<Blocks>("1,2,", bare, &barrier(Barrier::Block, None));
        let asked = |rule| Line::Request { user: number(1), target: number(2), since: Some(5), rule };
        both::<Requests>("1,2,5", whole, &asked(None));
        let ruled = LineOf::<Requests>::from_json(r#"{"since":5,"user_id":1,"target_id":"2","only":["post"]}"#);
        assert_eq!(ruled, line(asked(Some(posts(true)))));
        refused::<LineOf<Mutes>>(csv, &[("1", "target_id is missing"), ("1,2,x", "since: a time"), (",2", "user_id")]);
        let unknown = r#"{"user_id":1,"target_id":2,"until":3}"#;
        refused(
            LineOf::<Blocks>::from_json,
            &[(unknown, "unknown field `until`"), ("[1,2]", "expected a JSON object")],
        );
    }

    #[test]
    fn settings_and_suspensions_are_read_from_both_formats() {
        let of = |approve_followers, default_audience| Line::Settings {
            user: number(1),
            settings: UserSettings { approve_followers, default_audience },
        };
        both::<Settings>("1", r#"{"user_id":1}"#, &of(false, Audience::Public));
        let whole = r#"{"user_id":1,"approve_followers":true,"default_audience":"followers"}"#;
        for yes in ["true", "t", "1"] {
            both::<Settings>(&format!("1,{yes},followers"), whole, &of(true, Audience::Followers));
        }
        both::<Settings>("1,f", r#"{"user_id":1,"approve_followers":null}"#, &of(false, Audience::Public));
        both::<Suspensions>("1", r#"{"user_id":1}"#, &Line::Suspension { user: number(1), since: None });
        let since = Line::Suspension { user: number(1), since: Some(7) };
        both::<Suspensions>("1,7", r#"{"user_id":1,"since":7}"#, &since);
        let wrong = [
            ("1,yes", "approve_followers: expected true or false"),
            ("1,,all", "default_audience: expected public or followers"),
        ];
        refused::<LineOf<Settings>>(csv, &wrong);
        refused::<LineOf<Suspensions>>(csv, &[("1,2,3", "3 fields"), ("1,x", "since: a time")]);
    }

    #[test]
    fn lists_their_members_and_markers_are_read_from_both_formats() {
        let list = |title: Option<&str>, exclusive| Line::List {
            user: number(1),
            list: "a b".to_owned(),
            settings: ListSettings { title: title.map(str::to_owned), exclusive },
        };
        both::<Lists>("1,a b", r#"{"user_id":1,"list":"a b"}"#, &list(None, false));
        let whole = r#"{"user_id":1,"list":"a b","title":"A","exclusive":true}"#;
        both::<Lists>("1,a b,A,true", whole, &list(Some("A"), true));
        let member = |since, rule| Line::Member {
            user: number(1),
            list: "a b".to_owned(),
            source: HostId::Name("x".into()),
            since,
            rule,
        };
        both::<Members>("1,a b,x", r#"{"user_id":1,"list":"a b","source_id":"x"}"#, &member(None, None));
        both::<Members>("1,a b,x,5", r#"{"user_id":1,"list":"a b","source_id":"x","since":5}"#, &member(Some(5), None));
        let ruled = r#"{"user_id":1,"list":"a b","source_id":"x","except":["post"]}"#;
        assert_eq!(LineOf::<Members>::from_json(ruled), line(member(None, Some(posts(false)))));
        let marker = |list: Option<&str>| Line::Marker {
            user: number(1),
            place: "5-x".parse().expect("a cursor"),
            list: list.map(str::to_owned),
        };
        both::<Markers>("1,5-x", r#"{"user_id":1,"cursor":"5-x"}"#, &marker(None));
        both::<Markers>("1,5-x,a b", r#"{"user_id":1,"cursor":"5-x","list":"a b"}"#, &marker(Some("a b")));
        let of_notices = Line::NoticeMarker { user: number(1), place: "5-1-0-1-x-".parse().expect("a cursor") };
        let whole = r#"{"user_id":1,"cursor":"5-1-0-1-x-","notices":true}"#;
        both::<Markers>("1,5-1-0-1-x-,,true", whole, &of_notices);
        let both_of_them = ("1,5-1-0-1-x-,a,true", "list and notices: give one");
        refused::<LineOf<Markers>>(csv, &[("1,5-x,,true", "cursor: a cursor is"), both_of_them]);
        let long = "x".repeat(201);
        refused::<LineOf<Lists>>(csv, &[("1", "list is missing"), (&format!("1,{long}"), "list: expected 1 to 64")]);
        refused::<LineOf<Lists>>(csv, &[(&format!("1,a,{long}"), "title: expected 1 to 200 characters")]);
        refused::<LineOf<Members>>(csv, &[("1,a", "source_id is missing"), ("1,a, x", "source_id: expected no space")]);
        refused::<LineOf<Markers>>(csv, &[("1,5", "cursor: a cursor is"), ("1", "cursor is missing")]);
        refused(
            LineOf::<Markers>::from_json,
            &[(r#"{"user_id":1,"cursor":"5-1","list":""}"#, "list: expected 1 to 64"), (r#"{"user_id":1}"#, "cursor")],
        );
        let wrong = r#"{"user_id":1,"list":"a","source_id":0}"#;
        refused(LineOf::<Members>::from_json, &[(wrong, "invalid_id: source_id: an id is")]);
    }
}
