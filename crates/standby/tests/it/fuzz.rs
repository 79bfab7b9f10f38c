//! What comes from outside: lines of the socket, counters, a journal, sense data. Any bytes; nothing panics, and what is
//! accepted means the same when it is written and read again.

use standby::{Ask, Counters, Journal, hdparm_state, sense_state};

#[test]
fn lines() {
    bolero::check!().with_max_len(600).for_each(|input: &[u8]| match Ask::parse(input) {
        Ok(ask) => {
            let said = serde_json::to_string(&ask).expect("it can be said");
            assert_eq!(Ask::parse(said.as_bytes()), Ok(ask.clone()));
            assert!(ask.hint().is_some() || matches!(ask, Ask::Status {} | Ask::Wake { .. } | Ask::Use { .. }));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    });
}

#[test]
fn files() {
    bolero::check!().with_max_len(600).for_each(|input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        if let Ok(journal) = Journal::parse(&text) {
            assert_eq!(Journal::parse(&journal.text()).as_ref(), Ok(&journal));
        }
        let (stat, inflight) = text.split_once('\n').unwrap_or((&text, ""));
        if let Ok(counters) = Counters::parse(stat, Some(inflight)) {
            assert_eq!(counters.since(&counters).map(|io| io.any()), Some(false));
            assert!(Counters::parse(stat, None).is_ok_and(|other| other.reads == counters.reads));
        }
        let (_, _) = (sense_state(input), hdparm_state(&text));
    });
}
