//! Causes of the disagreements. Each says how it was tested; what has not been found says so too.

use super::cases::Case;
use tcp::Config;

/// The cause of some of the disagreements.
pub struct Cause {
    /// As the page prints it, with how it was tested.
    pub text: &'static str,
    /// Whether it explains a set-up's quantity, named by its column in the reference table.
    pub explains: fn(&Case, &str) -> bool,
    /// The setting with which the set-up agrees, if that is the test.
    pub with: Option<fn(&mut Config)>,
}

pub const CAUSES: &[Cause] = &[
    Cause {
        text: "CUBIC's drops. ns-2's copy of 2006 leaves 819/1024 of the window after a loss, and drops more when it \
               starts: four flows at 120 ms drop 905, with today's 717/1024 471, and keep 75.8 packets queued \
               (`dumbbell.tcl Linux-cubic 4 10 120 0 100000 60 10 1 717`). What is left between 471 and ours has not \
               been found.",
        explains: |case, column| case.transport == "CUBIC" && column == "drops",
        with: None,
    },
    Cause {
        text: "Vegas, sixteen flows in a queue of 33. Here each flow keeps 1 to 3 segments queued (the paper's alpha \
               and beta), in ns-3 2 to 4, which overflows the queue at times. Tested with 2 and 4 here. In ns-2 six \
               seeds drop between 34 and 1,193.",
        explains: |case, column| {
            case.transport == "Vegas" && case.flows == 16 && ["drops", "qmean_warm"].contains(&column)
        },
        with: Some(|tcp| (tcp.vegas.alpha, tcp.vegas.beta) = (2, 4)),
    },
    Cause {
        text: "NewReno, sixteen flows in a queue of 33. Half found: with congestion avoidance that counts (Linux) the \
               mean queue is 22.0 packets, with growth per ACK 23.4, and with a count that survives losses 25.0. \
               Without effect are the timer at partial ACKs, limited transmit, timestamps, and which window is \
               halved.",
        explains: |case, column| case.transport == "NewReno" && case.flows == 16 && column == "qmean_warm",
        with: None,
    },
    Cause {
        text: "BBR. ns-3's start-up ends at the first drops: a trace (one flow, 10 Mbit/s) shows cwnd cut from 101 to \
               77 segments at 0.47 s, and a timeout at 0.81 s. Here it ends as the draft says, after three rounds \
               without growth; all 207 drops fall before it. With several flows ns-3's BBR is no reference: sixteen \
               leave 87 % of 100 Mbit/s idle, and of two one starves or both do, by the seed.",
        explains: |case, _| case.transport == "BBR",
        with: None,
    },
    Cause {
        text: "DCTCP's marks with one flow. Not found. The table does not state the access links of these rows; here \
               each has an eighth of the round trip. Goodput and queue agree.",
        explains: |case, column| case.transport == "DCTCP" && column == "marks",
        with: None,
    },
    Cause {
        text: "Westwood+ under random loss measures what it is told. A floor of 50 ms between measurements, as in \
               Linux 2.6, leaves 75 Mbit/s at 0.1 % loss and 10 at 1 % (the paper's rule: 74 and 10); with RTTs \
               rounded up to milliseconds beside it, as Linux has them in jiffies, it is 93 and 13. In ns-2 \
               timestamps alone raise 24 to 31 Mbit/s (`dumbbell.tcl Linux-westwood 1 100 40 0.01 100000 100 20 1`), \
               and at 120 ms 4.9 to 7.9; ns-3, whose sample counts the ACKs at both of its ends, has 77 and 13. \
               Today's Linux rule (Reno's half until a recovery ends) comes to 41 and 6 Mbit/s. The larger windows of \
               the references also queue and drop more. \
               What is left of the factor has not been found.",
        explains: |case, column| case.transport == "Westwood+" && case.loss > 0.0 && column != "blk_p50",
        with: None,
    },
    Cause {
        text: "Linux Reno and Westwood+, sixteen flows that share 66 packets: a mean queue of 20 to 23 packets, where \
               the references have 25 to 29. Not found. Both references disagree about the drops (2.5 x); recovery \
               by RFC 6675 or by Fall and Floyd, and which window is halved, make no difference.",
        explains: |case, column| {
            ["Linux Reno", "Westwood+"].contains(&case.transport)
                && case.flows == 16
                && ["drops", "qmean_warm"].contains(&column)
        },
        with: None,
    },
    Cause {
        text: "Barrier reads are decided by moments within a block. ns-2's servers start up to 10 us apart, a number \
               that the table does not state. With four servers of 32 KB (`incast.tcl Sack 4 32768 0.2 300 11.9 1 \
               JITTER`) none, 1 us, 10 us and 100 us give 62, 62, 97 and 70 drops, 54, 57, 91 and 51 timeouts; seed 3 \
               at 10 us gives 59 and 52; the table has 119 to 128 and 90 to 112. Here all start when their request \
               arrives.",
        explains: |case, _| case.family == "incast" && case.flows <= 16,
        with: None,
    },
    Cause {
        text: "Barrier reads of 32 and 64 servers. Not found. With congestion avoidance that counts (Linux) 32 servers \
               of 8 KB drop as many as ns-2 (1,756), with growth per ACK, which both references have, more.",
        explains: |case, _| case.family == "incast",
        with: None,
    },
    Cause {
        text: "With 6 % of a link left over a few moments decide. The references have one seed each. ns-2's drops of \
               905 clients lie between 44 and 152 over four seeds (`incast_marks.csv`), Trunkline's between 6 and \
               258 over eight.",
        explains: |case, column| {
            case.family == "short" && (800..1_000).contains(&case.flows) && ["qmean", "drops"].contains(&column)
        },
        with: None,
    },
    Cause {
        text: "Connections kept over sessions. Only ns-2 has a row, and it counts a session as done when its \
               connection has nothing left to send, not when the session's bytes have arrived. 356,603 packets \
               passed its bottleneck, as many as 35,700 sessions have. What drops and the mean queue exceed has not \
               been found.",
        explains: |case, _| case.name.contains("kept"),
        with: None,
    },
];

/// The first cause that explains this number.
pub fn cause_of(case: &Case, column: &str) -> Option<usize> {
    CAUSES.iter().position(|cause| (cause.explains)(case, column))
}
