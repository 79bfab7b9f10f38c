//! What a page cache keeps of files that are merged.

/// What of files in a page cache is read from disk while they are merged, and while `written` bytes go to the cache.
///
/// The cache evicts what was used longest ago: what is still to be read of these files before what has been read or
/// written since. Of `i` bytes of files, `w` bytes of writes and a cache of `c`, with the part `p` merged: `i (1 - p)`
/// are to be read, and at most `c - (i + w) p` of them are left. Hits are the integral of their ratio times `i`: exact for
/// many files, of which each is in the cache or is not.
pub(crate) fn missed(input: f64, cache: f64, written: f64) -> f64 {
    let gone = input + written;
    if gone <= cache {
        return 0.0;
    }
    // Nothing is missed at first where all of the files are in the cache; nothing is hit at the end.
    let first = if input < cache { (cache - input) / written } else { 0.0 };
    let last = cache / gone;
    let hits = input * first + gone * (last - first) + (gone - cache) * (libm::log1p(-last) - libm::log1p(-first));
    (input - hits).clamp(0.0, input)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The misses of a merge of a hundred files of 100 pages, written one after the other, beside `written` pages for each
    /// that is read: page by page in a list by last use.
    fn by_pages(capacity: usize, written: usize) -> f64 {
        let mut cache: Vec<usize> = (0..10_000).rev().take(capacity).rev().collect();
        let mut use_page = |page: usize| {
            let hit = cache.iter().position(|other| *other == page);
            cache.remove(hit.unwrap_or(0));
            cache.push(page);
            hit.is_some()
        };
        let (mut misses, mut next) = (0_u32, 10_000);
        for page in 0..100 {
            for file in 0..100 {
                misses += u32::from(!use_page(file * 100 + page));
                for _ in 0..written {
                    use_page(next);
                    next += 1;
                }
            }
        }
        f64::from(misses)
    }

    #[test]
    fn misses_are_those_of_a_list_by_last_use() {
        for (capacity, written) in [(4_000, 0), (8_000, 1), (9_990, 2), (2_000, 1)] {
            let (pages, closed) = (by_pages(capacity, written), missed(1e4, capacity as f64, 1e4 * written as f64));
            assert!((closed / pages - 1.0).abs() < 0.02, "{capacity}, {written}: {closed} beside {pages}");
        }
        assert!(missed(1e4, 2.1e4, 1e4).abs() < 1e-9, "all has room");
        // Files fill the cache, and what is written drives them out: of 1 unit, 1 - (2 / 2 - ln 2) is missed.
        assert!((missed(1.0, 1.0, 1.0) - std::f64::consts::LN_2).abs() < 1e-9, "{}", missed(1.0, 1.0, 1.0));
    }
}
