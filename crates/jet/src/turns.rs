//! Programs' connections reach a server in the order in which programs opened them, as they do without gateways. Some
//! servers tell connections apart by that order alone (`iperf3 --bidir` the two directions).

use std::convert::Infallible;
use std::pin::pin;
use std::task::Poll;
use tokio::sync::oneshot;

/// The end of a queue.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    last: Option<oneshot::Receiver<Infallible>>,
}

/// A place in a queue. The next one's turn comes when this has begun, or was dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    before: Option<oneshot::Receiver<Infallible>>,
    begun: oneshot::Sender<Infallible>,
}

impl Turns {
    /// A place behind all others.
    pub fn take(&mut self) -> Turn {
        let (begun, last) = oneshot::channel();
        Turn { before: self.last.replace(last), begun }
    }
    /// Whether nobody is waiting.
    pub fn is_empty(&mut self) -> bool {
        let waits = |last: &mut oneshot::Receiver<_>| last.try_recv() == Err(oneshot::error::TryRecvError::Empty);
        !self.last.as_mut().is_some_and(waits)
    }
}

impl Turn {
    /// Does something in turn: as far as to where it first waits. The rest it does beside what others do.
    pub async fn begin<T>(self, act: impl Future<Output = T>) -> T {
        let Self { before, begun } = self;
        if let Some(before) = before {
            let _ = before.await;
        }
        let mut act = pin!(act);
        let first = std::future::poll_fn(|cx| Poll::Ready(act.as_mut().poll(cx))).await;
        drop(begun);
        match first {
            Poll::Ready(done) => done,
            Poll::Pending => act.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::time::sleep;

    /// Each waits the longer, the earlier it came; all wait at the same time.
    #[tokio::test(start_paused = true)]
    async fn all_begin_in_turn_and_wait_for_no_one_elses_end() {
        let (mut turns, order) = (Turns::default(), Arc::new(Mutex::new(Vec::new())));
        assert!(turns.is_empty());
        let places: Vec<Turn> = (0..10).map(|_| turns.take()).collect();
        let began = tokio::time::Instant::now();
        let tasks = (0..).zip(places).map(|(number, turn)| {
            let order = Arc::clone(&order);
            tokio::spawn(async move {
                sleep(Duration::from_millis(100 - number)).await;
                let act = async {
                    order.lock().expect("no panic").push(number);
                    sleep(Duration::from_secs(10 - number)).await;
                };
                // One of them has nothing to do.
                if number != 5 {
                    turn.begin(act).await;
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("no panic");
        }
        assert_eq!(*order.lock().expect("no panic"), [0, 1, 2, 3, 4, 6, 7, 8, 9]);
        assert_eq!(began.elapsed(), Duration::from_millis(10_100));
        assert!(turns.is_empty());
    }
}
