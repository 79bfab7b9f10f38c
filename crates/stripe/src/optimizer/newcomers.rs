//! Streams that a try has added, beside those that were there before.

/// Compares the windows of the streams that a try has added with those of the others.
///
/// Streams of one control that share a bottleneck come to equal windows (Chiu and Jain 1989), but that takes their
/// control as long as it takes a window to recover from a loss, several times over: half a window of round trips for
/// Reno, twice that with delayed acknowledgements. A stream that loses a segment early leaves slow start with a small
/// window, and being out of slow start says nothing of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Newcomers {
    before: u32,
    count: u32,
    windows: [u64; 2],
}

impl Newcomers {
    /// `before` streams were there before the try; all of them, without a number.
    pub fn beyond(before: Option<u32>) -> Self {
        Self { before: before.unwrap_or(u32::MAX), ..Self::default() }
    }
    /// Takes in the window of the next stream, in the order in which they were opened.
    pub fn add(&mut self, window: u64) {
        self.windows[usize::from(self.count >= self.before)] += window;
        self.count += 1;
    }
    /// The mean window of the newcomers as a part of that of the others; `None` without either.
    pub fn part(&self) -> Option<f64> {
        let new = self.count.checked_sub(self.before).filter(|new| *new > 0 && self.windows[0] > 0)?;
        let [others, newcomers] = self.windows.map(|sum| sum as f64);
        Some(newcomers / f64::from(new) / (others / f64::from(self.before)))
    }
}
