//! What a page cache keeps of files that are merged.

/// What of files in a page cache is read from disk while they are merged, and while `written` bytes go to the cache.
///
/// The cache evicts what was used longest ago: what is still to be read of these files before what has been read or
/// written since. Of `i` bytes of files, `w` bytes of writes and a cache of `c`, with the part `p` merged: `i (1 - p)`
/// are to be read, and at most `c - (i + w) p` of them are left. Hits are the integral of their ratio times `i`. A file
/// is in the cache from some place on, which the ratio spreads: so that is for many files. Of two, up to a sixth is
/// missed beyond it, of ten some 2 %, of a hundred 0.3 %.
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
    use std::collections::BTreeMap;

    /// The misses of a merge of so many files, 10,000 pages in all and written one after the other, beside `written`
    /// pages for each that is read: page by page in a list by last use.
    fn by_pages(files: usize, capacity: usize, written: usize) -> f64 {
        let length = 10_000 / files;
        // When each page in the cache was used last, and which page was used when.
        let (mut used, mut pages, mut now) = (BTreeMap::new(), BTreeMap::new(), 0_u32);
        let mut use_page = |page: usize| {
            now += 1;
            let hit = used.insert(page, now).map(|before| pages.remove(&before)).is_some();
            pages.insert(now, page);
            if pages.len() > capacity {
                let (_, oldest) = pages.pop_first().expect("a page");
                used.remove(&oldest);
            }
            hit
        };
        for page in 10_000 - capacity..10_000 {
            use_page(page);
        }
        let (mut misses, mut next) = (0_u32, 10_000);
        for page in 0..length {
            for file in 0..files {
                misses += u32::from(!use_page(file * length + page));
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
            for files in [10, 100] {
                let pages = by_pages(files, capacity, written);
                let closed = missed(1e4, capacity as f64, 1e4 * written as f64);
                let off = closed / pages - 1.0;
                // What a file's first and last page and the first and last file have of the ratio.
                let ends = 0.3 / files as f64 + 0.3 / (1e4 / files as f64);
                assert!(off.abs() < ends, "{files}, {capacity}, {written}: {closed} beside {pages}");
            }
        }
        assert!(missed(1e4, 2.1e4, 1e4).abs() < 1e-9, "all has room");
        // Files fill the cache, and what is written drives them out: of 1 unit, 1 - (2 / 2 - ln 2) is missed.
        assert!((missed(1.0, 1.0, 1.0) - std::f64::consts::LN_2).abs() < 1e-9, "{}", missed(1.0, 1.0, 1.0));
    }
}
