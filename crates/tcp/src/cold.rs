//! State that most connections never need.

use std::ops::{Deref, DerefMut};

/// A kind of state that begins blank.
pub(crate) trait Blank: 'static {
    /// As it is before anything has happened.
    const BLANK: &'static Self;
    /// Another such.
    fn blank() -> Self;
}

/// Reads as blank until it is first written; only then does it take memory of its own. Millions of connections wait for
/// their SYN's answer, and a bulk receiver never repairs anything: neither pays for what it does not use.
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
    /// What is there, where what is blank says nothing.
    #[inline]
    pub fn there(&self) -> Option<&T> {
        self.0.as_deref()
    }
    /// To change what is there, where what is blank needs no change.
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
