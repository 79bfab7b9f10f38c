//! The queues that the benchmark turned down, kept so that anyone can measure again.

mod binary_heap;
mod calendar;
mod ladder;

pub use binary_heap::BinaryHeapQueue;
pub use calendar::CalendarQueue;
pub use ladder::LadderQueue;
