//! Rows of jobs.

use bincode::{Decode, Encode};

use super::{Value, code, corrupt, decode, encode, flags, read_flags, valid};
use crate::rows::keys;
use model::error::Result;
use model::{Cursor, Entry, Job, KindId, Progress, Reach, UserId, Work};

const JOB: u8 = 1;

#[derive(Encode, Decode)]
enum WorkV1 {
    FanOut { source: u64, at: u64, id: u64, of: (u64, u8, u8), progress: Option<(u8, Option<u64>)> },
    Settle { user: u64, source: u64 },
    Rebuild { user: u64 },
}

/// The reaches, each at the place that is its code.
const REACHES: [Reach; 3] = [Reach::All, Reach::Active, Reach::Nobody];

impl Value for Job {
    const FORM: &'static str = "version 1, then bincode: fan-out (source, place, author, kind, audience, progress), settle (user, source) or rebuild (user)";

    fn read(key: &[u8], bytes: &[u8]) -> Result<Self> {
        let id = keys::read(key).ok_or_else(|| corrupt("job: id"))?;
        let user = |raw| valid(raw, "job: user");
        let mut progress = None;
        let work = match decode("job", JOB, bytes)? {
            WorkV1::FanOut { source, at, id, of: (author, kind, audience), progress: stored } => {
                if let Some((reach, done_to)) = stored {
                    let reach = *REACHES.get(usize::from(reach)).ok_or_else(|| corrupt("job: reach"))?;
                    progress = Some(Progress { reach, done_to: done_to.map(user).transpose()? });
                }
                let id = valid(id, "job: content")?;
                let (source, author, audience) = (user(source)?, user(author)?, read_flags(audience)?);
                Work::FanOut {
                    entry: Entry { cursor: Cursor { at, id }, source, author, kind: KindId(kind), audience },
                }
            }
            WorkV1::Settle { user: whose, source } => Work::Settle { user: user(whose)?, source: user(source)? },
            WorkV1::Rebuild { user: whose } => Work::Rebuild { user: user(whose)? },
        };
        Ok(Self { id, work, progress })
    }

    fn bytes(&self) -> Result<Vec<u8>> {
        let record = match self.work {
            Work::FanOut { entry } => WorkV1::FanOut {
                source: entry.source.get(),
                at: entry.cursor.at,
                id: entry.cursor.id.get(),
                of: (entry.author.get(), entry.kind.0, flags(entry.audience)),
                progress: self.progress.map(|p| (code(&REACHES, p.reach), p.done_to.map(UserId::get))),
            },
            Work::Settle { user, source } => WorkV1::Settle { user: user.get(), source: source.get() },
            Work::Rebuild { user } => WorkV1::Rebuild { user: user.get() },
        };
        encode(JOB, &record)
    }
}
