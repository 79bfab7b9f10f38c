//! Several attempts at the same thing, of which the first success counts.

use std::io;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Head start of an attempt before the next one begins beside it (RFC 8305, section 5: "Connection Attempt Delay").
const HEAD_START: Duration = Duration::from_millis(250);

/// Makes the attempts in turn, each when the one before has failed or had its head start. When one succeeds the others
/// are given up. The error is the last attempt's, or `none` where there is nothing to attempt. An only attempt is made
/// by the caller's own task, at once.
pub(crate) async fn race<T, F>(mut attempts: Vec<F>, none: io::Error) -> io::Result<T>
where
    T: Send + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
{
    if attempts.len() == 1
        && let Some(only) = attempts.pop()
    {
        return only.await;
    }
    let mut attempts = attempts.into_iter();
    let mut running = JoinSet::new();
    let mut last = none;
    loop {
        let more = attempts.next().map(|attempt| running.spawn(attempt)).is_some();
        tokio::select! {
            Some(ended) = running.join_next() => match ended {
                Ok(Ok(won)) => return Ok(won),
                Ok(Err(error)) => last = error,
                Err(panic) => last = io::Error::other(panic),
            },
            () = sleep(HEAD_START), if more => {}
            else => return Err(last),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::Instant;

    type Attempt = std::pin::Pin<Box<dyn Future<Output = io::Result<u32>> + Send>>;

    fn after(ms: u64, what: Result<u32, i32>) -> Attempt {
        Box::pin(async move {
            sleep(Duration::from_millis(ms)).await;
            what.map_err(io::Error::from_raw_os_error)
        })
    }
    async fn run(attempts: Vec<Attempt>) -> (Result<u32, Option<i32>>, u128) {
        let began = Instant::now();
        let result = race(attempts, io::Error::from_raw_os_error(1)).await;
        (result.map_err(|error| error.raw_os_error()), began.elapsed().as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_that_comes_about_is_taken() {
        assert_eq!(run(vec![]).await, (Err(Some(1)), 0));
        assert_eq!(run(vec![after(100, Ok(1)), after(10, Ok(2))]).await, (Ok(1), 100), "within its head start");
        assert_eq!(run(vec![after(9000, Ok(1)), after(10, Ok(2))]).await, (Ok(2), 260));
        assert_eq!(run(vec![after(5, Err(111)), after(10, Ok(2))]).await, (Ok(2), 15), "no need to wait any more");
        assert_eq!(run(vec![after(300, Ok(1)), after(9000, Ok(2))]).await, (Ok(1), 300), "late, and still the first");
        assert_eq!(run(vec![after(400, Err(110)), after(10, Err(111))]).await, (Err(Some(110)), 400), "the last error");
        assert_eq!(run(vec![after(700, Err(5)), after(700, Err(6)), after(100, Err(7))]).await, (Err(Some(6)), 950));
    }
}
