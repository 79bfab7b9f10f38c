//! State that most connections never need.

use std::ops::{Deref, DerefMut};

/// State with a blank initial value.
pub(crate) trait Blank: 'static {
    /// The blank value.
    const BLANK: &'static Self;
    /// A new blank value.
    fn blank() -> Self;
}

/// Reads as blank, and allocates at the first write. Millions of connections wait for a SYN-ACK, and a bulk receiver
/// never repairs losses: neither pays for state that it does not use.
#[derive(Clone, Debug)]
pub(crate) struct Cold<T>(Option<Box<T>>);

impl<T> Cold<T> {
    /// Blank.
    pub const fn new() -> Self {
        Self(None)
    }
    /// Never written.
    #[inline]
    pub const fn is_blank(&self) -> bool {
        self.0.is_none()
    }
    /// The state, if it was ever written.
    #[inline]
    pub fn there(&self) -> Option<&T> {
        self.0.as_deref()
    }
    /// The state to change, if it was ever written.
    #[inline]
    pub fn written(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }
}

impl<T: Blank> Deref for Cold<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::BLANK)
    }
}

impl<T: Blank> DerefMut for Cold<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_with(|| Box::new(T::blank()))
    }
}
