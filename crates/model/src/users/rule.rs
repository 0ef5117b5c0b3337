//! Rules: the kinds of items that a path shows.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Kind, KindId, Millis, UserId};

/// Most kinds of a rule.
pub const MAX_RULE: usize = 16;

/// The kinds of items that a path shows, or that are asked for: only some, or all but some. Without a rule it is all. Rules with
/// the same kinds in another order are the same.
#[derive(Debug, Clone, Copy, Eq)]
pub struct Rule {
    is_only: bool,
    len: u8,
    kinds: [KindId; MAX_RULE],
}

impl Rule {
    /// A rule that admits only these kinds, or all but these; `None` if they are more than [`MAX_RULE`].
    pub fn new(is_only: bool, of: &[KindId]) -> Option<Self> {
        let mut kinds = [KindId::POST; MAX_RULE];
        kinds.get_mut(..of.len())?.copy_from_slice(of);
        Some(Self { is_only, len: of.len() as u8, kinds })
    }

    /// Whether it admits only its kinds, and not all but these.
    #[inline]
    pub fn is_only(&self) -> bool {
        self.is_only
    }

    /// The kinds that it names, in the order of the application.
    #[inline]
    pub fn kinds(&self) -> &[KindId] {
        self.kinds.get(..usize::from(self.len)).unwrap_or(&self.kinds)
    }

    /// Whether it admits items of a kind.
    #[inline]
    pub fn admits(&self, kind: KindId) -> bool {
        self.kinds().contains(&kind) == self.is_only
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        let has = |rule: &Self, kind: &KindId| rule.kinds().contains(kind);
        self.is_only == other.is_only
            && self.kinds().iter().all(|kind| has(other, kind))
            && other.kinds().iter().all(|kind| has(self, kind))
    }
}

/// A rule in the words of the application.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedRule {
    /// All kinds.
    #[default]
    All,
    /// Only these.
    Only(KindNames),
    /// All but these.
    Except(KindNames),
}

impl NamedRule {
    /// The rule of two fields, of which at most one is given; else the reason.
    pub fn of(only: Option<KindNames>, except: Option<KindNames>) -> Result<Self, &'static str> {
        match (only, except) {
            (None, None) => Ok(Self::All),
            (Some(kinds), None) => Ok(Self::Only(kinds)),
            (None, Some(kinds)) => Ok(Self::Except(kinds)),
            (Some(_), Some(_)) => Err("give one of the two, or none"),
        }
    }

    /// The rule that admits only kinds of these names, or all but these; else the reason.
    pub fn named(is_only: bool, names: Vec<String>) -> Result<Self, String> {
        let kinds = names.into_iter().map(Kind::try_from).collect::<Result<Vec<_>, _>>()?.try_into()?;
        Ok(if is_only { Self::Only(kinds) } else { Self::Except(kinds) })
    }

    /// Its kinds as the field `only` or the field `except` has them.
    pub fn fields(self) -> (Option<KindNames>, Option<KindNames>) {
        match self {
            Self::All => (None, None),
            Self::Only(kinds) => (Some(kinds), None),
            Self::Except(kinds) => (None, Some(kinds)),
        }
    }

    /// Whether it admits only its kinds, and their names.
    pub fn names(&self) -> (bool, Vec<&str>) {
        match self {
            Self::All => (false, Vec::new()),
            Self::Only(names) => (true, names.iter().collect()),
            Self::Except(names) => (false, names.iter().collect()),
        }
    }
}

/// 1 to [`MAX_RULE`] names of kinds, each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Kind>")]
pub struct KindNames(Vec<Kind>);

impl KindNames {
    /// The names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Kind::name)
    }
}

/// Reads the kinds of a rule; none where an array is empty, or `null`.
pub fn kinds_of_rule<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<KindNames>, D::Error> {
    let kinds = Option::<Vec<Kind>>::deserialize(deserializer)?.filter(|kinds| !kinds.is_empty());
    kinds.map(KindNames::try_from).transpose().map_err(de::Error::custom)
}

impl TryFrom<Vec<Kind>> for KindNames {
    type Error = String;
    fn try_from(kinds: Vec<Kind>) -> Result<Self, String> {
        if !(1..=MAX_RULE).contains(&kinds.len()) {
            return Err(format!("expected 1 to {MAX_RULE} kinds"));
        }
        match (1..kinds.len()).find(|place| kinds[..*place].contains(&kinds[*place])) {
            Some(place) => Err(format!("the kind \"{}\" occurs twice", kinds[place].name())),
            None => Ok(Self(kinds)),
        }
    }
}

impl FromStr for KindNames {
    type Err = String;
    /// Names with commas between them. One that comes again counts once.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut kinds = Vec::new();
        for name in text.split(',') {
            let kind = Kind::try_from(name.to_owned());
            let kind = kind.map_err(|_| "expected kinds of 1 to 32 of a-z, 0-9 and _ with commas between them")?;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds.try_into()
    }
}

/// Since when a source is followed, or is a member of a list, and the rule of this path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// The time.
    pub since: Millis,
    /// The rule; `None` if it shows all kinds.
    pub rule: Option<Rule>,
}

/// The sources whose items a reader is shown, ascending, each with its rule. Copies share their memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownSources {
    ids: Arc<[UserId]>,
    /// Ascending; `None` if no source has a rule.
    rules: Option<Arc<[(UserId, Rule)]>>,
    /// All authors whom the reader silences, ascending; `None` if they are not known. Most readers silence nobody: that is
    /// `Some(None)`, because copies by all threads of one empty list would contend for its count.
    silenced: Option<Option<Arc<[UserId]>>>,
}

impl ShownSources {
    /// Most authors whom the reader silences and who are named beside the sources.
    pub const MOST_SILENCED: usize = 1000;

    /// Sources and rules, each ascending. A rule of another source has no effect.
    pub fn new(ids: impl Into<Arc<[UserId]>>, mut rules: Vec<(UserId, Rule)>) -> Self {
        let ids = ids.into();
        rules.retain(|(source, _)| ids.binary_search(source).is_ok());
        Self { ids, rules: (!rules.is_empty()).then(|| rules.into()), silenced: None }
    }

    /// These, with all authors whom the reader silences, if they are known. Too many are forgotten.
    #[must_use]
    pub fn silencing(self, silenced: Option<Vec<UserId>>) -> Self {
        let few = |silenced: Vec<UserId>| match BTreeSet::from_iter(silenced) {
            none if none.is_empty() => Some(None),
            silenced => (silenced.len() <= Self::MOST_SILENCED).then(|| Some(Arc::from_iter(silenced))),
        };
        Self { silenced: silenced.and_then(few), ..self }
    }

    /// These, without some.
    #[must_use]
    pub fn without(self, out: &[UserId]) -> Self {
        Self { ids: self.ids.iter().copied().filter(|source| !out.contains(source)).collect(), ..self }
    }

    /// These, and one more without a rule.
    #[must_use]
    pub fn with(self, source: UserId) -> Self {
        match self.ids.binary_search(&source) {
            Ok(_) => self,
            Err(place) => Self { ids: [&self.ids[..place], &[source], &self.ids[place..]].concat().into(), ..self },
        }
    }

    /// Whether it has a source.
    #[inline]
    pub fn has(&self, source: UserId) -> bool {
        self.ids.binary_search(&source).is_ok()
    }

    /// All rules, by source.
    #[inline]
    pub fn rules(&self) -> &[(UserId, Rule)] {
        self.rules.as_deref().unwrap_or_default()
    }

    /// The rule of a source; `None` if it shows all kinds.
    #[inline]
    pub fn rule(&self, source: UserId) -> Option<Rule> {
        let rules = self.rules.as_deref()?;
        rules.binary_search_by_key(&source, |(of, _)| *of).ok().map(|place| rules[place].1)
    }

    /// All authors whom the reader silences, ascending; `None` if they are not known.
    #[inline]
    pub fn silenced(&self) -> Option<&[UserId]> {
        self.silenced.as_ref().map(|silenced| silenced.as_deref().unwrap_or_default())
    }

    /// Whether items of a kind are shown on the path through one of the sources.
    #[inline]
    pub fn rules_admit(&self, source: UserId, kind: KindId) -> bool {
        self.rules.is_none() || self.rule(source).is_none_or(|rule| rule.admits(kind))
    }

    /// Whether a source is one of these, and its rule admits a kind.
    #[inline]
    pub fn admits(&self, source: UserId, kind: KindId) -> bool {
        self.has(source) && self.rules_admit(source, kind)
    }
}

impl Deref for ShownSources {
    type Target = [UserId];
    #[inline]
    fn deref(&self) -> &[UserId] {
        &self.ids
    }
}
