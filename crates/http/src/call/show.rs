//! Answers that show content, which may be large.

use std::sync::Arc;

use super::Call;
use crate::connections::answer_memory::MemoryReservation;
use crate::pools::Wants;
use crate::wire::problem::Problem;
use crate::wire::reply::Text;
use feed::{Count, Feed};
use model::error::{Error, Result};
use model::store::Tier;

/// Most bytes of content that are written as JSON on a server thread, or on one of the many threads for reads. More
/// would delay other requests.
const AT_ONCE: usize = 64 << 10;

/// Counts up to [`AT_ONCE`].
#[derive(Default)]
struct Few {
    bytes: usize,
    passed: bool,
}

impl Few {
    /// Fails beyond the limit.
    fn count(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.passed |= self.bytes > AT_ONCE;
        if self.passed { Err(Error::NotCached) } else { Ok(()) }
    }
}

impl Call {
    /// Reads content that may be large, and writes it as JSON: small content in memory at once, other small content on
    /// a thread that may block, large content on one of few threads for it. On those threads memory is counted during
    /// the read, before any wait, and until the client has received the answer.
    pub(crate) async fn show<T, R: Send + 'static>(
        &self,
        look: impl Fn(&Feed, Tier, &mut Count<'_>) -> Result<T> + Send + Sync + 'static,
        write: impl Fn(T, &mut Text) -> Result<R, Problem> + Send + Sync + 'static,
    ) -> Result<(R, Text), Problem> {
        let mut few = Few::default();
        match look(self.api.feed(), Tier::Memory, &mut |bytes| few.count(bytes)) {
            Err(Error::NotCached) => {}
            seen => {
                let mut text = Text::of_about(few.bytes);
                return Ok((write(seen?, &mut text)?, text));
            }
        }
        Box::pin(self.show_from_disk(look, write, few)).await
    }

    /// Shows what a read gives that memory could not, or whose bytes were too many there.
    async fn show_from_disk<T, R: Send + 'static>(
        &self,
        look: impl Fn(&Feed, Tier, &mut Count<'_>) -> Result<T> + Send + Sync + 'static,
        write: impl Fn(T, &mut Text) -> Result<R, Problem> + Send + Sync + 'static,
        few: Few,
    ) -> Result<(R, Text), Problem> {
        let show = Arc::new(move |feed: &Feed, mut text: Text, mut few: Option<&mut Few>| -> Result<_, Problem> {
            let seen = look(feed, Tier::Disk, &mut |bytes| {
                few.as_deref_mut().map_or(Ok(()), |few| few.count(bytes))?;
                text.grow(bytes)
            })?;
            text.reserve_writing()?;
            let seen_bytes = text.used();
            let rest = write(seen, &mut text)?;
            text.shrink(seen_bytes);
            Ok((rest, text))
        });
        let text = || {
            Ok::<_, Problem>(Text::new(Some(MemoryReservation::new(
                &self.api.limits.answers,
                self.api.limits.timeout,
            )?)))
        };
        if !few.passed {
            let (text, show) = (text()?, Arc::clone(&show));
            let shown = self.run(Wants::Read, move |feed| -> Result<_, Problem> {
                let mut few = Few::default();
                match show(feed, text, Some(&mut few)) {
                    Err(_) if few.passed => Ok(None),
                    shown => shown.map(Some),
                }
            });
            if let Some(shown) = shown.await? {
                return Ok(shown);
            }
        }
        let text = text()?;
        self.run(Wants::LargeRead, move |feed| show(feed, text, None)).await
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use actix_web::test::TestRequest;

    use super::*;
    use crate::api::Api;
    use crate::api::tests::api;
    use crate::call::ThreadApi;
    use crate::guards::auth::Permit;
    use crate::kind::Kind;
    use crate::pools::Pools;
    use crate::wire::request_id::RequestId;

    async fn call(api: &Arc<Api>) -> Call {
        let request = TestRequest::default().to_http_request();
        let caller = api.admit(&request, &RequestId::begin(&request), Permit::default()).expect("there are no keys");
        let kind = Kind { pattern: "/", shares: false, kept: None, passes: false };
        Call::new(Rc::new(ThreadApi(Arc::clone(api))), kind, request, caller, Instant::now())
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
                    let look = move |_: &Feed, tier, count: &mut Count<'_>| match tier {
                        Tier::Memory if n % 2 == 0 => Err(Error::NotCached),
                        _ => count(AT_ONCE + 1),
                    };
                    let write = move |(), text: &mut Text| {
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
        let small = |_: &Feed, tier, count: &mut Count<'_>| match tier {
            Tier::Memory => Err(Error::NotCached),
            Tier::Disk => count(AT_ONCE),
        };
        for _ in 0..40 {
            assert!(call(&api).await.show(small, |(), text: &mut Text| text.write(&"")).await.is_ok());
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
            let look = move |_: &Feed, tier, count: &mut Count<'_>| {
                looked[0].fetch_add(usize::from(tier == Tier::Disk), Ordering::Relaxed);
                count(12 << 20)
            };
            let write = move |(), text: &mut Text| {
                written[1].fetch_add(1, Ordering::Relaxed);
                text.write(&"")
            };
            call.show(look, write).await.is_ok()
        };
        let counted = || counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        assert!(show().await);
        assert_eq!(counted(), [1, 1]);
        let answers = &api.limits.answers;
        let most = answers.take(answers.limit() - (20 << 20)).expect("free");
        assert!(!show().await, "what it is made of has room, its text has none");
        assert_eq!(counted(), [2, 1]);
        let more = answers.take(8 << 20).expect("free");
        assert!(!show().await, "the last part is for answers that are begun");
        assert_eq!(counted(), [2, 1]);
        assert_eq!(answers.refused(), 2);
        drop((most, more));
        assert_eq!(answers.fill().used, 0);
        assert!(show().await);
    }
}
