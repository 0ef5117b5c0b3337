//! Answers that show content, which may be large.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::Call;
use crate::connections::answer_memory::MemoryReservation;
use crate::pools::Wants;
use crate::wire::problem::Problem;
use crate::wire::reply::Text;
use feed::Read;
use model::ReactionKinds;
use model::error::{Error, Result};
use model::store::Tier;

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
        write: impl Fn(T, &ReactionKinds, &mut Text) -> Result<R, Problem> + Send + Sync + 'static,
    ) -> Result<(R, Text), Problem> {
        // Returns the number of bytes read so far, if the content is not in memory or has more than `most` bytes.
        let show =
            move |read: Read<'_>, most: usize, room: Option<MemoryReservation>| -> Result<Result<_, usize>, Problem> {
                let (bytes, room) = (Cell::new(0_usize), RefCell::new(room));
                let count = |more| {
                    bytes.set(bytes.get().saturating_add(more));
                    if bytes.get() > most {
                        return Err(Error::NotCached);
                    }
                    room.borrow_mut().as_mut().map_or(Ok(()), |room| room.grow(more))
                };
                let seen = match look(read.counted(&count)) {
                    Err(Error::NotCached) => return Ok(Err(bytes.get())),
                    seen => seen?,
                };
                let mut text = match room.into_inner() {
                    None => Text::of_about(bytes.get()),
                    room => Text::new(room),
                };
                text.reserve_writing()?;
                let seen_bytes = text.used();
                let rest = write(seen, read.reaction_kinds(), &mut text)?;
                text.shrink(seen_bytes);
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
                    let room =
                        MemoryReservation::new(&self.api.limits.answers, self.caller.holder, self.api.limits.timeout)?;
                    let show = Arc::clone(&show);
                    if let Ok(shown) = self.run(wants, move |feed| show(feed.read(), most, Some(room))).await? {
                        return Ok(shown);
                    }
                }
            }
            Err(Problem::internal("a read from the disk needs more than the disk"))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use actix_web::test::TestRequest;

    use super::*;
    use crate::api::Api;
    use crate::api::tests::api;
    use crate::call::ThreadApi;
    use crate::guards::auth::Permit;
    use crate::limits::Holder;
    use crate::pools::Pools;
    use crate::route_info::RouteInfo;
    use crate::wire::request_id::RequestId;

    async fn call(api: &Arc<Api>) -> Call {
        let request = TestRequest::default().to_http_request();
        let caller =
            api.admission.admit(&request, &RequestId::begin(&request), Permit::default()).expect("there are no keys");
        let info = Box::leak(Box::new(RouteInfo::new("GET", "/")));
        Call::new(ThreadApi::new(api), info, request, caller, Instant::now())
    }

    #[actix_web::test]
    async fn few_large_answers_are_written_at_once_and_small_ones_beside_them() {
        let api = api();
        let most = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let (go, wait) = crossbeam_channel::bounded::<()>(0);
        // Large shows, half of them known as large before the read, write while `go` exists.
        let shows: Vec<_> = (0..40)
            .map(|n| {
                let (api, most, wait) = (Arc::clone(&api), Arc::clone(&most), wait.clone());
                actix_web::rt::spawn(async move {
                    let look = move |read: Read<'_>| -> Result<Vec<u64>> {
                        if n % 2 == 0 {
                            read.needs_disk()?;
                        }
                        read.count(AT_ONCE + 1).map(|()| Vec::new())
                    };
                    let write = move |_, _: &_, text: &mut Text| {
                        let now = most[0].fetch_add(1, Ordering::Relaxed) + 1;
                        most[1].fetch_max(now, Ordering::Relaxed);
                        assert!(wait.recv().is_err());
                        most[0].fetch_sub(1, Ordering::Relaxed);
                        text.write(&"")
                    };
                    call(&api).await.show(look, write).await.is_ok()
                })
            })
            .collect();
        while most[0].load(Ordering::Relaxed) < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let small = |read: Read<'_>| -> Result<Vec<u64>> {
            read.needs_disk()?;
            read.count(AT_ONCE).map(|()| Vec::new())
        };
        for _ in 0..40 {
            assert!(call(&api).await.show(small, |_, _: &_, text: &mut Text| text.write(&"")).await.is_ok());
        }
        drop(go);
        for show in shows {
            assert!(show.await.expect("no panic"));
        }
        let most = most[1].load(Ordering::Relaxed);
        assert!(most <= Pools::large_reads(), "{most} at once");
    }

    #[actix_web::test]
    async fn an_answer_for_which_there_is_no_room_is_not_written_and_soon_not_read() {
        let api = api();
        let call = call(&api).await;
        let counts = Arc::new([const { AtomicUsize::new(0) }; 2]);
        let show = async || {
            let [looked, written] = [Arc::clone(&counts), Arc::clone(&counts)];
            let look = move |read: Read<'_>| -> Result<Vec<u64>> {
                looked[0].fetch_add(usize::from(read.needs_disk().is_ok()), Ordering::Relaxed);
                read.count(12 << 20).map(|()| Vec::new())
            };
            let write = move |_, _: &_, text: &mut Text| {
                written[1].fetch_add(1, Ordering::Relaxed);
                text.write(&"")
            };
            call.show(look, write).await.is_ok()
        };
        let counted = || counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert!(show().await);
        assert_eq!(counted(), [1, 1]);
        let answers = &api.limits.answers;
        let most = answers.take(Holder::Application, answers.limit() / 16 * 15 - (20 << 20)).expect("free");
        assert!(!show().await, "what it is made of has room, its text has none");
        assert_eq!(counted(), [2, 1]);
        let more = answers.take(Holder::Application, 8 << 20).expect("free");
        assert!(!show().await, "the last part is for answers that are begun");
        assert_eq!(counted(), [2, 1]);
        assert_eq!(answers.refused(), 2);
        drop((most, more));
        assert_eq!(answers.fill().used, 0);
        assert!(show().await);
    }
}
