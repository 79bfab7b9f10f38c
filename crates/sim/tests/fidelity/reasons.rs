//! Why ours is where it is when it is further from the references than they are from each other, and than is normal for them.

use crate::cases::Case;

pub struct Reason {
    pub text: &'static str,
    pub explains: fn(&Case, &str) -> bool,
}

pub const REASONS: &[Reason] = &[
    Reason {
        text: "BBR: all of one flow's drops fall into its start-up, which sends at 2.89 times the bandwidth into a queue of one bandwidth-delay product until three \
               rounds have shown no growth (207 of 207 in the first two seconds); ns-3's start-up ends earlier, and its queue is shorter after. With several flows \
               ns-3's BBR is no reference: it leaves most of the link idle.",
        explains: |case, _| case.transport == "BBR",
    },
    Reason {
        text: "Sixteen Vegas flows are to keep 1 to 3 packets each in a queue of 33. Where between 16 and 48 they settle is decided by what round trip each took \
               for the empty path's when it began: theirs settle at the brim and drop, ours below it. ns-3 keeps 2 to 4 each; ns-2 rounds the difference, so that it \
               bears half a packet more.",
        explains: |case, column| {
            case.transport == "Vegas" && case.flows == 16 && ["drops", "qmean_warm"].contains(&column)
        },
    },
    Reason {
        text: "NewReno with sixteen flows in a queue of 33: ours follows RFC 6582's impatient variant (only the first partial acknowledgement restarts the timer) and \
               leaves the queue emptier; goodput and drops agree.",
        explains: |case, column| case.transport == "NewReno" && case.flows == 16 && column == "qmean_warm",
    },
    Reason {
        text: "Timeouts are no reference when the timer is ten round trips long: ns-2 and ns-3 differ by 1.1 to 3.9 times, and ours counts those of RFC 6298.",
        explains: |case, column| {
            case.family == "incast" && case.min_rto_ms < 10.0 && ["timeouts", "drops"].contains(&column)
        },
    },
    Reason {
        text: "DCTCP: the table does not state the access links of these rows; ours have an eighth of the round trip each. A queue that marks *above* K (DCTCP's paper, \
               RFC 8257) holds one packet more than one that marks at K.",
        explains: |case, _| case.transport == "DCTCP",
    },
    Reason {
        text: "Westwood+ drops under random loss are no reference: ns-2's and ns-3's counts include what the link lost.",
        explains: |case, column| case.transport == "Westwood+" && case.loss > 0.0 && column == "drops",
    },
    Reason {
        text: "Sixteen Westwood+ flows share 66 packets: after a loss each sets its threshold to two or three segments, from a bandwidth measured once a round trip \
               (Grieco and Mascolo 2004). Both references follow Linux, which measures at least 50 ms apart and so cuts less. Not followed further.",
        explains: |case, _| case.transport == "Westwood+" && case.flows == 16,
    },
    Reason {
        text: "Twice what the link carries: of a whole second ns-2 alone has a row. Over the 0.4 s that both ran, they differ by 8 % in sessions done, 11 % in their mean time and 29 % in \
               drops.",
        explains: |case, column| {
            case.family == "short"
                && case.flows == 2_000
                && !case.name.contains("kept")
                && ["done", "fct_mean"].contains(&column)
        },
    },
    Reason {
        text: "Where 6 % of a link are left over, a few moments decide. The references have one seed each; ns-2's drops of 905 clients lie between 44 and 152 over four \
               seeds (`incast_marks.csv`), ours between 6 and 258 over eight.",
        explains: |case, column| {
            case.family == "short"
                && (800..1_000).contains(&case.flows)
                && ["fct_mean", "qmean", "drops"].contains(&column)
        },
    },
    Reason {
        text: "Connections kept over sessions: ns-2 alone has a row, and calls a session done when its connection has nothing left to send, not when the session's bytes are in. \
               356,603 packets passed its bottleneck, as many as 35,700 sessions have. The mean queue's 10 % are not followed further.",
        explains: |case, column| {
            case.name.contains("kept") && (column.starts_with("fct_") || ["done", "qmean"].contains(&column))
        },
    },
];

/// The first reason that explains this number.
pub fn reason_for(case: &Case, column: &str) -> Option<usize> {
    REASONS.iter().position(|reason| (reason.explains)(case, column))
}
