//! Beyond every limit a clear refusal: 503 with `Retry-After`, nothing written, nothing lost, and normal service after
//! the load. Against the real binary, with limits small enough for a test to exceed.

mod answers;
mod connections;
mod jobs;
mod shares;
mod unfinished;
