//! Connections, and the memory that their requests and answers take.

mod accepted;
pub(crate) mod answer_memory;
pub(crate) mod connection;
pub(crate) mod flow;
pub(crate) mod incoming;
mod offers;
pub(crate) mod outgoing;
mod pace;
pub(crate) mod serve;
pub(crate) mod turns;
