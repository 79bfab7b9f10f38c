//! A regular expression whose first group, or whole match, is a key; every match in a record has one.

use memchr::memmem::Finder;
use regex::bytes::{CaptureLocations, Regex};
use regex_automata::dfa::onepass;
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Look;
use regex_syntax::hir::literal::Extractor;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// The largest automaton: as much as `regex` allows its own.
const LARGEST: usize = 1 << 20;
/// After so many places of a record at which a match might have begun and did not, the library goes on, whose time is
/// linear in the record.
const MISSES: usize = 8;

/// A regular expression for keys.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    direct: Option<Arc<Direct>>,
}

/// What a search writes to, kept from record to record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    groups: Option<CaptureLocations>,
    cache: Option<(usize, onepass::Cache)>,
}

impl FromStr for Pattern {
    type Err = regex::Error;

    fn from_str(pattern: &str) -> Result<Self, regex::Error> {
        let regex = Regex::new(pattern)?;
        Ok(Self { direct: Direct::new(pattern).map(Arc::new), regex })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.regex.as_str())
    }
}

impl Pattern {
    /// The expression.
    pub const fn regex(&self) -> &Regex {
        &self.regex
    }

    /// Hands out where each match has its key.
    #[inline]
    pub(crate) fn find(&self, record: &[u8], room: &mut Room, mut key: impl FnMut(Range<usize>)) {
        let of = self.regex.captures_len();
        let from = match &self.direct {
            None => Some(0),
            Some(direct) => {
                // A cache fits all automata of as many groups.
                room.cache.take_if(|(groups, _)| *groups != of);
                let (_, cache) = room.cache.get_or_insert_with(|| (of, direct.automaton.create_cache()));
                direct.find(record, cache, &mut key)
            }
        };
        match from {
            None => {}
            Some(from) if of > 1 => self.find_groups(record, from, room, key),
            Some(from) => self.find_matches(record, from, key),
        }
    }

    fn find_matches(&self, record: &[u8], mut at: usize, mut key: impl FnMut(Range<usize>)) {
        while at <= record.len() {
            let Some(found) = self.regex.find_at(record, at) else { break };
            if found.is_empty() {
                at = found.end() + 1;
            } else {
                key(found.range());
                at = found.end();
            }
        }
    }

    /// As `captures_iter`, which makes room for the groups of each match anew.
    fn find_groups(&self, record: &[u8], mut at: usize, room: &mut Room, mut key: impl FnMut(Range<usize>)) {
        room.groups.take_if(|groups| groups.len() != self.regex.captures_len());
        let groups = room.groups.get_or_insert_with(|| self.regex.capture_locations());
        let mut last = None;
        while at <= record.len() {
            let Some(found) = self.regex.captures_read_at(groups, record, at) else { break };
            if found.is_empty() && last == Some(found.end()) {
                at += 1;
                continue;
            }
            if let Some((begin, end)) = groups.get(1) {
                key(begin..end);
            }
            at = found.end();
            last = Some(at);
        }
    }
}

/// An expression all of whose matches begin with the same text or with the record, and whose groups one pass over a
/// match finds: the pass begins where the text stands. The library reads a match three times: forward for its end,
/// backward for its begin, and once more for its groups.
#[derive(Debug)]
struct Direct {
    begin: Begin,
    automaton: onepass::DFA,
    /// The slots of a search: begin and end of the match, then those of the first group if there is one.
    slots: usize,
}

#[derive(Debug)]
enum Begin {
    OfRecord,
    Text(Box<Finder<'static>>),
}

impl Direct {
    /// `None` for an expression of another kind.
    fn new(pattern: &str) -> Option<Self> {
        let parsed = ParserBuilder::new().utf8(false).build().parse(pattern).ok()?;
        let begin = if parsed.properties().look_set_prefix().contains(Look::Start) {
            Begin::OfRecord
        } else {
            let begins = Extractor::new().extract(&parsed);
            let text = begins.longest_common_prefix().filter(|text| !text.is_empty())?;
            Begin::Text(Box::new(Finder::new(text).into_owned()))
        };
        let config = thompson::Config::new().utf8(false).nfa_size_limit(Some(10 * LARGEST));
        let automaton = thompson::Compiler::new().configure(config).build_from_hir(&parsed).ok()?;
        let config = onepass::Config::new().size_limit(Some(LARGEST));
        let automaton = onepass::Builder::new().configure(config).build_from_nfa(automaton).ok()?;
        let slots = if automaton.get_nfa().group_info().all_group_len() > 1 { 4 } else { 2 };
        Some(Self { begin, automaton, slots })
    }

    /// Hands out keys, to the end of the record; or to the place that is returned, from which the library goes on.
    #[inline]
    fn find(&self, record: &[u8], cache: &mut onepass::Cache, mut key: impl FnMut(Range<usize>)) -> Option<usize> {
        let Begin::Text(text) = &self.begin else {
            let (found, _) = self.key_at(0, record, cache)?;
            // A whole match without bytes is no key, a group without bytes is one.
            found.filter(|found| !found.is_empty() || self.slots > 2).map(key);
            return None;
        };
        let (mut at, mut misses) = (0, 0);
        while let Some(ahead) = text.find(record.get(at..)?) {
            at += ahead;
            if let Some((found, end)) = self.key_at(at, record, cache) {
                found.map(&mut key);
                at = end;
            } else {
                misses += 1;
                at += 1;
                if misses == MISSES {
                    return Some(at);
                }
            }
        }
        None
    }

    /// Of a match that begins there the key, if it has one, and the end.
    #[inline]
    fn key_at(&self, at: usize, record: &[u8], cache: &mut onepass::Cache) -> Option<(Option<Range<usize>>, usize)> {
        let mut slots = [None; 4];
        let input = Input::new(record).anchored(Anchored::Yes).range(at..);
        self.automaton.try_search_slots(cache, &input, &mut slots[..self.slots]).ok()??;
        let key = match slots[self.slots - 2..self.slots] {
            [Some(begin), Some(end)] => Some(begin.get()..end.get()),
            _ => None,
        };
        slots[1].map(|end| (key, end.get()))
    }
}
