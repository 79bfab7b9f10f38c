//! Typed indices and the slab they point into.

use std::marker::PhantomData;

/// A newtyped `u32` that points into a [`Slab`] or a vector of one kind of thing.
pub trait Index: Copy {
    /// An index from a position.
    fn from_usize(position: usize) -> Self;
    /// As a position.
    fn as_usize(self) -> usize;
}

/// Defines index types: `define_index!(/// A link. pub LinkId);`
#[macro_export]
macro_rules! define_index {
    ($($(#[$meta:meta])* $vis:vis $name:ident);+ $(;)?) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $vis struct $name(pub u32);

        impl $crate::Index for $name {
            fn from_usize(position: usize) -> Self {
                Self(position as u32)
            }
            fn as_usize(self) -> usize {
                self.0 as usize
            }
        }
    )+};
}

/// Values by typed index; freed places are used again, last freed first.
#[derive(Debug, Clone)]
pub struct Slab<I, T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
    index: PhantomData<fn() -> I>,
}

impl<I: Index, T> Slab<I, T> {
    /// An empty slab.
    pub const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new(), index: PhantomData }
    }
    /// Stores a value and returns where.
    pub fn insert(&mut self, value: T) -> I {
        self.insert_with(|_| value)
    }
    /// Stores a value that knows where it is, and returns where.
    pub fn insert_with(&mut self, value: impl FnOnce(I) -> T) -> I {
        let place = self.free.pop().map_or(self.places.len(), |place| place as usize);
        let index = I::from_usize(place);
        let value = Some(value(index));
        match self.places.get_mut(place) {
            Some(free) => *free = value,
            None => self.places.push(value),
        }
        index
    }
    /// Takes a value out, if it exists.
    pub fn remove(&mut self, index: I) -> Option<T> {
        let value = self.places.get_mut(index.as_usize())?.take();
        if value.is_some() {
            self.free.push(index.as_usize() as u32);
        }
        value
    }
    /// The value there, if any.
    pub fn get(&self, index: I) -> Option<&T> {
        self.places.get(index.as_usize())?.as_ref()
    }
    /// The value there, if any, to change.
    pub fn get_mut(&mut self, index: I) -> Option<&mut T> {
        self.places.get_mut(index.as_usize())?.as_mut()
    }
    /// The number of stored values.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
    /// Whether nothing is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All stored values in order of index.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.places.iter().enumerate().filter_map(|(i, place)| Some((I::from_usize(i), place.as_ref()?)))
    }
}

impl<I: Index, T> Default for Slab<I, T> {
    fn default() -> Self {
        Self::new()
    }
}
