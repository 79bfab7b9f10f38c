//! Programs' connections reach a server in the order in which programs opened them, as they do without gateways. Some
//! servers tell connections apart by that order alone (`iperf3 --bidir` the two directions).

use std::pin::pin;
use std::task::Poll;
use tokio::sync::oneshot;

/// The end of a queue.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    last: Option<Begun>,
}

/// A place in a queue. The next one's turn comes when this has begun; when this was dropped before its turn, the next
/// one stands where it stood.
#[derive(Debug)]
pub(crate) struct Turn {
    before: Option<Begun>,
    begun: Option<oneshot::Sender<Begun>>,
}

/// Closed when a place's holder has begun. What it hands over is the place before one that was given up.
#[derive(Debug)]
struct Begun(oneshot::Receiver<Begun>);

impl Turns {
    /// A place behind all others.
    pub fn take(&mut self) -> Turn {
        let (begun, last) = oneshot::channel();
        Turn { before: self.last.replace(Begun(last)), begun: Some(begun) }
    }
    /// Whether nobody is waiting.
    pub fn is_empty(&mut self) -> bool {
        while let Some(last) = &mut self.last {
            match last.0.try_recv() {
                Ok(before) => self.last = Some(before),
                Err(oneshot::error::TryRecvError::Closed) => self.last = None,
                Err(oneshot::error::TryRecvError::Empty) => return false,
            }
        }
        true
    }
}

impl Turn {
    /// Does something in turn: as far as to where it first waits. The rest it does beside what others do.
    pub async fn begin<T>(mut self, act: impl Future<Output = T>) -> T {
        while let Some(before) = &mut self.before {
            self.before = (&mut before.0).await.ok();
        }
        let mut act = pin!(act);
        let first = std::future::poll_fn(|cx| Poll::Ready(act.as_mut().poll(cx))).await;
        drop(self);
        match first {
            Poll::Ready(done) => done,
            Poll::Pending => act.await,
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let (Some(before), Some(begun)) = (self.before.take(), self.begun.take()) {
            let _ = begun.send(before);
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
                // One of them leaves before its turn.
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
