//! Answers that show content, which may be large.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::Call;
use crate::connections::answer_memory;
use crate::limits::Places;
use crate::pools::Wants;
use crate::wire::reply::Text;
use feed::Read;
use kv::Tier;
use model::ReactionKinds;
use model::error::{Error, Result};

/// Most bytes of content that are written as JSON on a server thread, or on one of the many threads for reads. More
/// would delay other requests.
const AT_ONCE: usize = 64 << 10;

impl Call {
    /// Reads content that may be large, and writes it as JSON: small content in memory at
    /// once, other small content on a thread that may block, large content on one of few threads for it. On those threads
    /// memory is counted during the read, before any wait, and until the client has received the answer.
    pub(crate) async fn show<T, R: Send + 'static>(
        &self,
        look: impl Fn(Read<'_>) -> Result<T> + Send + Sync + 'static,
        write: impl Fn(T, &ReactionKinds, &mut Text) -> Result<R> + Send + Sync + 'static,
    ) -> Result<(R, Text)> {
        // Returns the number of bytes read so far, if the content is not in memory or has more than `most` bytes.
        let show = move |read: Read<'_>, most: usize, memory: Option<Places>| -> Result<Result<_, usize>> {
            let (bytes, memory) = (Cell::new(0_usize), RefCell::new(memory));
            let count = |more| {
                bytes.set(bytes.get().saturating_add(more));
                if bytes.get() > most {
                    return Err(Error::NotCached);
                }
                memory.borrow_mut().as_mut().map_or(Ok(()), |memory| answer_memory::reserve(memory, bytes.get()))
            };
            let seen = match look(read.counted(&count)) {
                Err(Error::NotCached) => return Ok(Err(bytes.get())),
                seen => seen?,
            };
            let mut text = Text::beside(bytes.get(), memory.into_inner())?;
            let rest = write(seen, read.reaction_kinds(), &mut text)?;
            text.end_source();
            Ok(Ok((rest, text)))
        };
        let bytes = match show(self.api.feed().read().within(Tier::Memory), AT_ONCE, None)? {
            Ok(shown) => return Ok(shown),
            Err(bytes) => bytes,
        };
        Box::pin(async move {
            let show = Arc::new(show);
            for (wants, most) in [(Wants::Read, AT_ONCE), (Wants::LargeRead, usize::MAX)] {
                if bytes <= most {
                    let memory = answer_memory::begin(&self.api.limits.answers, self.caller.holder)?;
                    let show = Arc::clone(&show);
                    if let Ok(shown) = self.run(wants, move |feed| show(feed.read(), most, Some(memory))).await? {
                        return Ok(shown);
                    }
                }
            }
            Err(Error::internal("a read from the disk needs more than the disk"))
        })
        .await
    }
}
