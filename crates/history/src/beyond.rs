//! What a reader of records read beyond its split, which counters do not tell from the split.

use units::Bytes;

/// The most that a reader of lines reads there: its buffer (`spark.buffer.size`; Hadoop's `io.file.buffer.size` is 4 KiB).
const BUFFER: u64 = 65_536;
/// The most that a reader leaves of the beginning of its split: a record of TeraSort, which the reader before has read.
const RECORD: u64 = 100;

/// The whole blocks that a split had whose reader read so much, if it had such, and was not the end of a file. Of blocks
/// no larger than the buffer nothing can be told: every number of bytes is near some number of them.
fn whole_blocks(read: u64, block: u64) -> Option<u64> {
    if block <= RECORD + BUFFER {
        return None;
    }
    let whole = (read + RECORD) / block * block;
    (whole > 0 && read <= whole + BUFFER).then_some(whole)
}

/// Takes from what readers of splits read what was beyond these. The result is whether any has read beyond, if that can
/// be told.
pub fn without(read: &mut [Bytes], block: Bytes) -> Option<bool> {
    let mut any = None;
    for bytes in read {
        let Some(whole) = whole_blocks(bytes.get(), block.get()) else { continue };
        any = Some(any == Some(true) || whole != bytes.get());
        *bytes = Bytes::new(whole);
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 8 << 20;

    fn of(read: &[u64]) -> (Vec<u64>, Option<bool>) {
        let mut read: Vec<Bytes> = read.iter().copied().map(Bytes::new).collect();
        let any = without(&mut read, Bytes::new(BLOCK));
        (read.into_iter().map(Bytes::get).collect(), any)
    }

    /// As recorded: maps of Spark 4.1.1 read 64 KiB beyond blocks of 8 MiB, the last one to the file's end.
    #[test]
    fn a_recorded_stage_has_the_blocks_of_its_file() {
        let recorded = [8_256 << 10, 8_256 << 10, 8_256 << 10, 6_834_218];
        assert_eq!(of(&recorded), (vec![BLOCK, BLOCK, BLOCK, 6_834_218], Some(true)));
    }

    /// TeraSort's reader begins with the first record that begins in its split, and ends behind the last one.
    #[test]
    fn records_lie_across_blocks() {
        assert_eq!(of(&[BLOCK + 92, BLOCK - 8, 70]), (vec![BLOCK, BLOCK, 70], Some(true)));
        assert_eq!(of(&[2 * BLOCK + 4_096]), (vec![2 * BLOCK], Some(true)));
    }

    #[test]
    fn what_is_no_block_or_exactly_one_is_left() {
        assert_eq!(of(&[BLOCK, BLOCK, 5]), (vec![BLOCK, BLOCK, 5], Some(false)));
        assert_eq!(of(&[572_867]), (vec![572_867], None));
        assert_eq!(of(&[BLOCK + BUFFER + 1]), (vec![BLOCK + BUFFER + 1], None));
        assert_eq!(of(&[]), (vec![], None));
        let mut read = [Bytes::new(572_867)];
        assert_eq!((without(&mut read, Bytes::new(BUFFER)), read), (None, [Bytes::new(572_867)]));
    }
}
