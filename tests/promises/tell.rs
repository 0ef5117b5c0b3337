//! A report of a wrong answer: the relevant calls in their order.

use model::{ContentId, Cursor, Entry, Page, PageRequest, Side, UserId};

use super::bounds::Wrong;
use super::history::{History, Life, Pairs, Read, Seen, Window};

/// Items shown on each side of the wrong one.
const AROUND: usize = 3;

impl History {
    /// The error and the changes related to it, one call a line.
    pub(crate) fn tell(&self, read: &Read, wrong: &Wrong) -> String {
        let life = self.lives.iter().find(|life| Some(life.entry.cursor) == wrong.item);
        let mut lines = vec![(read.window, format!("{}   <- {}", answer(read, wrong.item), wrong.what))];
        lines.extend(life.into_iter().flat_map(|life| life_of(life, &read.window)));
        for (user, target) in self.pairs_of(read, wrong, life) {
            lines.extend(changes_of(&self.pairs, user, target, "follow", &read.window));
            lines.extend(changes_of(&self.rules, user, target, "leave out reposts of", &read.window));
            lines.extend(changes_of(&self.mutes, user, target, "mute", &read.window));
            lines.extend(changes_of(&self.apart, user, target, "keep apart", &read.window));
            lines.extend(changes_of(&self.hides, user, target, "hide from", &read.window));
            lines.extend(changes_of(&self.hides, target, user, "hide from", &read.window));
            lines.extend(changes_of(&self.blocks, user, target, "block", &read.window));
            lines.extend(changes_of(&self.blocks, target, user, "block", &read.window));
        }
        for author in life.into_iter().flat_map(Life::sources) {
            lines.extend(changes_of(&self.suspensions, author, author, "suspend", &read.window));
        }
        lines.sort_by_key(|(window, _)| window.began);
        let lines: Vec<_> =
            lines.into_iter().map(|(w, text)| format!("  {:>8}..{:<8} {text}", w.began, w.ended)).collect();
        format!("{}\n  from .. to (ticks of calls)\n{}", wrong.what, lines.join("\n"))
    }

    fn pairs_of(&self, read: &Read, wrong: &Wrong, life: Option<&Life>) -> Vec<(UserId, UserId)> {
        match (&read.seen, life, wrong.other) {
            (Seen::Members(Side::Followers, _), None, Some(other)) => vec![(other, read.user)],
            (_, Some(life), _) => life.sources().into_iter().map(|source| (read.user, source)).collect(),
            (_, None, Some(other)) => vec![(read.user, other)],
            (_, None, None) => self.pairs.keys().filter(|(user, _)| *user == read.user).copied().collect(),
        }
    }
}

impl Life {
    /// The author, and all paths of an item.
    fn sources(&self) -> Vec<UserId> {
        let further = self.on.iter().filter(|source| **source != self.entry.author);
        [self.entry.author].iter().chain(further).copied().collect()
    }
}

/// The last change of a pair before a read, those during it and the first after it.
fn changes_of(pairs: &Pairs, user: UserId, target: UserId, what: &str, read: &Window) -> Vec<(Window, String)> {
    let changes = pairs.get(&(user, target)).map_or(&[][..], Vec::as_slice);
    let last_before = changes.iter().rposition(|(window, _)| window.is_before(read)).unwrap_or(0);
    let first_after = changes.iter().position(|(window, _)| read.is_before(window)).unwrap_or(changes.len());
    let near = changes.iter().take(first_after + 1).skip(last_before);
    let no_more = |holds: bool| if holds { "is to" } else { "is not to" };
    near.map(|(window, holds)| (*window, format!("{user} {} {what} {target}", no_more(*holds)))).collect()
}

fn life_of(life: &Life, read: &Window) -> Vec<(Window, String)> {
    let Entry { cursor, author, .. } = life.entry;
    let what = if life.is_repost { "repost " } else { "" };
    let whom = if life.for_followers { ", for followers only" } else { "" };
    let mut lines = vec![(life.published, format!("{author} publishes {what}{cursor} on {:?}{whom}", life.on))];
    let off = life.off.iter().filter(|(_, off)| off.began < read.ended);
    lines.extend(off.map(|(source, off)| (*off, format!("{cursor} is taken off {source}"))));
    let edits = life.edits.iter().enumerate().filter(|(_, edit)| edit.began < read.ended);
    lines.extend(edits.map(|(n, edit)| (*edit, format!("{cursor} gets text {}", life.version + n + 1))));
    let turns = life.turns.iter().filter(|(turn, _)| turn.began < read.ended);
    lines.extend(
        turns.map(|(turn, live)| (*turn, format!("{cursor} is {}", if *live { "restored" } else { "deleted" }))),
    );
    lines
}

/// The result of a read; for a long list the part around one item.
fn answer(read: &Read, item: Option<Cursor>) -> String {
    let user = read.user;
    let of_page = |what: &str, request: &PageRequest<ContentId>, page: &Page<Entry, ContentId>| {
        let (span, limit, next) = (request.span, request.limit, page.next);
        format!("{user} {what} {span:?} limit {limit}: {}, next {next:?}", shown(&page.items, item))
    };
    match &read.seen {
        Seen::Timeline(request, page) => of_page("reads", request, page),
        Seen::Posts(request, page) => of_page("reads without reposts", request, page),
        Seen::Apart(request, page) => of_page("reads the list", request, page),
        Seen::Outbox(request, page) => of_page("shows the own page", request, page),
        Seen::Scroll(entries) => format!("{user} scrolls to the end: {}", shown(entries, item)),
        Seen::Texts(_, texts) => {
            let text = item.and_then(|item| texts.iter().find(|(id, _)| *id == item.id));
            format!("{user} reads in full: {text:?}")
        }
        Seen::Sight(asked, found) => format!("{user} sees {found:?} of {asked:?}"),
        Seen::Members(side, members) => format!("{side:?} of {user}: {members:?}"),
    }
}

fn shown(entries: &[Entry], item: Option<Cursor>) -> String {
    let place = item.map_or(0, |item| entries.iter().position(|entry| entry.cursor <= item).unwrap_or(entries.len()));
    let (from, to) = (place.saturating_sub(AROUND), (place + AROUND + 1).min(entries.len()));
    let items: Vec<_> = entries[from..to].iter().map(|entry| format!("{} of {}", entry.cursor, entry.author)).collect();
    let more = |there: bool| if there { "…, " } else { "" };
    format!("[{}{}{}]", more(from > 0), items.join(", "), if to < entries.len() { ", …" } else { "" })
}
