//! The storage engine alone: the rows of the inbox table, written in batches and read by a scan.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rocksdb::{
    BlockBasedOptions, Cache, CompactionDecision, DB, DBCompressionType, MemtableFactory, Options, ReadOptions,
    SliceTransform, WriteBatch, WriteOptions, properties,
};

use crate::trace::{FOLLOWEES, INBOX_LIMIT, Post, Trace};

/// Settings of the engine that are compared.
#[derive(Clone, Copy)]
pub struct Setting {
    pub name: &'static str,
    buffer_mib: usize,
    linked: bool,
    universal: bool,
    pub logged: bool,
    posts_a_batch: usize,
    writers: u64,
}

const BASE: Setting = Setting {
    name: "skip list, write buffers of 16 MiB, one batch a post",
    buffer_mib: 16,
    linked: false,
    universal: false,
    logged: true,
    posts_a_batch: 1,
    writers: 1,
};

/// Those that are tried.
pub const TRIED: &[Setting] = &[
    BASE,
    Setting { name: "skip list, 4 MiB, one batch a post", buffer_mib: 4, ..BASE },
    Setting { name: "skip list, 128 MiB, one batch a post", buffer_mib: 128, ..BASE },
    Setting { name: "skip list, 16 MiB, 16 posts a batch", posts_a_batch: 16, ..BASE },
    Setting { name: "skip list, 16 MiB, two writers", writers: 2, ..BASE },
    Setting { name: "hash of lists, 16 MiB, one batch a post", linked: true, ..BASE },
    Setting { name: "hash of lists, 64 MiB, one batch a post", linked: true, buffer_mib: 64, ..BASE },
    Setting {
        name: "hash of lists, 64 MiB, 16 posts a batch",
        linked: true,
        buffer_mib: 64,
        posts_a_batch: 16,
        ..BASE
    },
    Setting {
        name: "hash of lists, 64 MiB, universal compaction",
        linked: true,
        buffer_mib: 64,
        universal: true,
        ..BASE
    },
    Setting { name: "hash of lists, 64 MiB, no log", linked: true, buffer_mib: 64, logged: false, ..BASE },
];

/// A compaction that is due and does not begin within this time will not begin.
const NO_START: Duration = Duration::from_secs(1);

/// The engine with one table.
pub struct Raw {
    db: DB,
    setting: Setting,
    /// Rows of older items are dropped by compactions.
    oldest: Arc<AtomicU64>,
}

impl Raw {
    pub fn open(dir: &Path, setting: Setting) -> Self {
        let oldest = Arc::new(AtomicU64::new(0));
        let mut blocks = BlockBasedOptions::default();
        blocks.set_block_cache(&Cache::new_hyper_clock_cache(512 << 20, 0));
        blocks.set_bloom_filter(10.0, false);
        blocks.set_whole_key_filtering(false);
        blocks.set_cache_index_and_filter_blocks(true);
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_compression_type(DBCompressionType::Lz4);
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(8));
        options.set_write_buffer_size(setting.buffer_mib << 20);
        options.set_max_write_buffer_number(4);
        options.set_max_background_jobs(2);
        options.set_bytes_per_sync(1 << 20);
        options.set_block_based_table_factory(&blocks);
        if setting.linked {
            options.set_memtable_factory(MemtableFactory::HashLinkList { bucket_count: 1 << 18 });
            options.set_allow_concurrent_memtable_write(false);
        } else {
            options.set_memtable_prefix_bloom_ratio(0.05);
        }
        if setting.universal {
            options.set_compaction_style(rocksdb::DBCompactionStyle::Universal);
        }
        let limit = Arc::clone(&oldest);
        options.set_compaction_filter("oldest", move |_, key, _| {
            let id = key.get(16..).and_then(|id| id.try_into().ok()).map_or(u64::MAX, |id| !u64::from_be_bytes(id));
            if id < limit.load(Ordering::Relaxed) { CompactionDecision::Remove } else { CompactionDecision::Keep }
        });
        Self { db: DB::open(&options, dir).expect("opens"), setting, oldest }
    }

    /// Writes the inbox rows of posts. Rows above the inbox limit, about, are free to go at compactions. Returns the
    /// time until they are in table files and no compaction is due.
    pub fn deliver(&self, trace: &Trace, posts: impl Iterator<Item = Post> + Clone + Send) -> Duration {
        let newest = posts.clone().last().map_or(0, |post| post.id);
        self.oldest.store(newest.saturating_sub(trace.authors * INBOX_LIMIT / FOLLOWEES), Ordering::Relaxed);
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for writer in 0..self.setting.writers {
                let posts = posts.clone().filter(move |post| post.id % self.setting.writers == writer);
                scope.spawn(move || self.write(trace, posts));
            }
        });
        self.db.flush().expect("flushes");
        self.settle();
        begun.elapsed()
    }

    /// Writes the inbox rows of posts, on this thread.
    pub fn write(&self, trace: &Trace, posts: impl Iterator<Item = Post>) {
        let mut options = WriteOptions::default();
        #[allow(clippy::disallowed_methods, reason = "nobody follows it")]
        options.disable_wal(!self.setting.logged);
        let (mut batch, mut collected) = (WriteBatch::default(), 0);
        for post in posts {
            for follower in trace.followers(post.author) {
                batch.put(key(*follower, post), post.author.to_be_bytes());
            }
            collected += 1;
            if collected == self.setting.posts_a_batch {
                self.db.write_opt(std::mem::take(&mut batch), &options).expect("writes");
                collected = 0;
            }
        }
        self.db.write_opt(batch, &options).expect("writes");
    }

    /// Waits until no compaction runs or is due. Universal compaction counts some as due that it does not begin.
    fn settle(&self) {
        let figure = |name| self.db.property_int_value(name).expect("reads").unwrap_or_default();
        let mut idle_since = Instant::now();
        loop {
            let runs = figure(properties::NUM_RUNNING_COMPACTIONS) + figure(properties::NUM_RUNNING_FLUSHES);
            let due = figure(properties::COMPACTION_PENDING) + figure(properties::ESTIMATE_PENDING_COMPACTION_BYTES);
            if runs > 0 {
                idle_since = Instant::now();
            } else if due == 0 || idle_since.elapsed() > NO_START {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Rewrites all files.
    pub fn compact(&self) {
        self.db.compact_range(None::<&[u8]>, None::<&[u8]>);
        self.settle();
    }

    /// The newest rows of a user, copied. Returns their number.
    pub fn scan(&self, user: u64, most: usize) -> usize {
        let mut options = ReadOptions::default();
        options.set_prefix_same_as_start(true);
        let mut rows = self.db.raw_iterator_opt(options);
        rows.seek(user.to_be_bytes());
        let mut found = Vec::with_capacity(most);
        while found.len() < most
            && let Some((key, value)) = rows.item()
        {
            let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
            found.push((!number(&key[8..16]), !number(&key[16..]), number(value)));
            rows.next();
        }
        std::hint::black_box(&found).len()
    }
}

fn key(user: u64, post: Post) -> [u8; 24] {
    let mut key = [0; 24];
    key[..8].copy_from_slice(&user.to_be_bytes());
    key[8..16].copy_from_slice(&(!post.at()).to_be_bytes());
    key[16..].copy_from_slice(&(!post.id).to_be_bytes());
    key
}
