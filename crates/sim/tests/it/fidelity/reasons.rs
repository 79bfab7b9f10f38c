//! Reasons for the disagreements: where Trunkline is further from the references than the references are from each
//! other, and than the tables' page calls normal.

use super::cases::Case;

/// A reason for some of the disagreements.
pub struct Reason {
    /// As the page prints it.
    pub text: &'static str,
    /// Whether it explains a set-up's quantity, named by its column in the reference table.
    pub explains: fn(&Case, &str) -> bool,
}

pub const REASONS: &[Reason] = &[
    Reason {
        text: "BBR. Of one flow all drops fall into the start-up (207 of 207 in the first two seconds): it sends at \
               2.89 times the bandwidth into a queue of one bandwidth-delay product until three rounds have shown no \
               growth. ns-3's start-up ends earlier, and its queue is shorter afterwards. With several flows ns-3's \
               BBR is no reference: it leaves most of the link idle.",
        explains: |case, _| case.transport == "BBR",
    },
    Reason {
        text: "Vegas, sixteen flows. Each flow wants to keep 1 to 3 packets in a queue of 33. Where between 16 and \
               48 packets they settle depends on the round trip that each flow took for the empty path's when it \
               began. The references settle at the brim and drop; Trunkline settles below it. ns-3 keeps 2 to 4 \
               packets per flow; ns-2 rounds the difference and so allows half a packet more.",
        explains: |case, column| {
            case.transport == "Vegas" && case.flows == 16 && ["drops", "qmean_warm"].contains(&column)
        },
    },
    Reason {
        text: "NewReno, sixteen flows in a queue of 33. Trunkline follows RFC 6582's impatient variant (only the \
               first partial ACK restarts the timer), which leaves the queue emptier. Goodput and drops agree.",
        explains: |case, column| case.transport == "NewReno" && case.flows == 16 && column == "qmean_warm",
    },
    Reason {
        text: "Timeouts are no reference when the timer is ten round trips long: ns-2 and ns-3 differ by 1.1 to 3.9 \
               times. Trunkline counts those of RFC 6298.",
        explains: |case, column| {
            case.family == "incast" && case.min_rto_ms < 10.0 && ["timeouts", "drops"].contains(&column)
        },
    },
    Reason {
        text: "DCTCP. The table does not state the access links of these rows; here each has an eighth of the round \
               trip. A queue that marks *above* K (DCTCP's paper, RFC 8257) holds one packet more than one that \
               marks at K.",
        explains: |case, _| case.transport == "DCTCP",
    },
    Reason {
        text: "Westwood+ drops under random loss are no reference: ns-2's and ns-3's counts include what the link \
               lost.",
        explains: |case, column| case.transport == "Westwood+" && case.loss > 0.0 && column == "drops",
    },
    Reason {
        text: "Westwood+, sixteen flows that share 66 packets. After a loss each flow sets ssthresh to two or three \
               segments, from a bandwidth measured once a round trip (Grieco and Mascolo 2004). Both references \
               follow Linux, which measures at least 50 ms apart and so cuts less. Not followed further.",
        explains: |case, _| case.transport == "Westwood+" && case.flows == 16,
    },
    Reason {
        text: "Twice what the link carries. Only ns-2 has a row of a whole second. Over the 0.4 s that both ran, the \
               references differ by 8 % in sessions done, 11 % in their mean time and 29 % in drops.",
        explains: |case, column| {
            case.family == "short"
                && case.flows == 2_000
                && !case.name.contains("kept")
                && ["done", "fct_mean"].contains(&column)
        },
    },
    Reason {
        text: "With 6 % of a link left over a few moments decide. The references have one seed each. ns-2's drops of \
               905 clients lie between 44 and 152 over four seeds (`incast_marks.csv`), Trunkline's between 6 and \
               258 over eight.",
        explains: |case, column| {
            case.family == "short"
                && (800..1_000).contains(&case.flows)
                && ["fct_mean", "qmean", "drops"].contains(&column)
        },
    },
    Reason {
        text: "Connections kept over sessions. Only ns-2 has a row, and it counts a session as done when its \
               connection has nothing left to send, not when the session's bytes have arrived. 356,603 packets \
               passed its bottleneck, as many as 35,700 sessions have. The mean queue's 10 % are not followed \
               further.",
        explains: |case, column| {
            case.name.contains("kept") && (column.starts_with("fct_") || ["done", "qmean"].contains(&column))
        },
    },
];

/// The first reason that explains this number.
pub fn reason_for(case: &Case, column: &str) -> Option<usize> {
    REASONS.iter().position(|reason| (reason.explains)(case, column))
}
