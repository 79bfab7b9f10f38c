//! Causes of the disagreements. Each says how it was tested; what has not been found says so too.

use super::cases::Case;
use tcp::{Config, Recovery};

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
        text: "CUBIC's drops. ns-2's copy of Linux 2.6.22 leaves 819/1024 of the window after a loss, and cuts it at \
               once: four flows at 120 ms drop 905, with today's 717/1024 471 (`dumbbell.tcl Linux-cubic 4 10 120 0 \
               100000 60 10 1 717`), 462 here without `proportional-reduction`. Of the 905, 820 fall into the first \
               four seconds: 0.8 of slow start's windows are 323 segments where path and queue hold 200, so that \
               losses go on through the recoveries. A trace of the bottleneck has 594 drops of first transmissions, \
               311 of retransmissions, and 177 retransmissions of what had arrived; with 717 there are none of these. \
               The end of a recovery clears the scoreboard (`tcp_fastretrans_alert` of `tcp-linux.cc`): what was \
               SACKed up to 0.9 s before counts as lost (134 of the 177). Or a retransmission counts as lost since \
               later ones were acknowledged (43, `ScoreBoard1::UpdateScoreBoard`). Hosts keep their scoreboard. Here \
               0.8 makes 613 drops, with `recovery = \"rack\"`, which finds lost retransmissions as ns-2 does, 639, \
               and no such retransmission. Sixteen flows at 10 Mbit/s drop 2,547 here without \
               `proportional-reduction`, and with today's beta 2,496 in ns-2; with ns-2's beta 3,668 here, there \
               3,377 to 3,556. ns-3's CUBIC ends slow start by a HyStart of its own. Linux itself: below.",
        explains: |case, column| case.family == "dumbbell" && case.transport == "CUBIC" && column == "drops",
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
        text: "BBR. ns-3's start-up ends at the first drops: a trace (one flow, 10 Mbit/s) shows cwnd cut from 101 to \
               77 segments at 0.47 s, and a timeout at 0.81 s. Here it ends as the draft says, after three rounds \
               without growth; all 76 drops fall before it. With several flows ns-3's BBR is no reference: of two one \
               starves or both do, by the seed, and sixteen leave 87 % of 100 Mbit/s idle or, started otherwise, 40 % \
               (`dumbbell.cc --proto=Bbr --nf=16 --bw=100 --T=30`: 59.9 Mbit/s, a queue of 120 packets in place of \
               24). Linux, below, is one.",
        explains: |case, _| case.family == "dumbbell" && case.transport == "BBR",
        with: None,
    },
    Cause {
        text: "Westwood+ under random loss measures what it is told. ns-3 counts what a recovery delivers twice: each \
               duplicate ACK as a segment, then all of them again with the full ACK (`TcpSocketBase::ProcessAck`: \
               `PktsAcked` with `segsAcked`), so that each loss raises the estimate, until the queue overflows; its \
               header says that the model lacks validation. A subclass that counts them once (`dumbbell.cc \
               --proto=Once`) has 75.6 Mbit/s at 0.1 % and 13.4 at 1 %, a queue of 0.1 packets, and at 1 % no drops. \
               ns-2's copy is Linux 2.6.22's (`tcp_westwood.c`): samples of 51 ms or more, filtered twice by 7/8, in \
               whole bytes per millisecond; RTTmin in whole milliseconds of SRTT; BWE x RTTmin as cwnd, Reno's half \
               as ssthresh, to which cwnd rises when the recovery ends. By these rules the ACKs of a run of ns-2 give \
               its windows after most losses exactly, and after the others within a few segments. What makes its rate \
               is beside them. `tcp-linux.cc` counts bytes acknowledged in a recovery towards congestion avoidance \
               (Linux itself counted them only before `TCP_CA_CWR`), so that each loss opens cwnd by a segment more: \
               with `sysctl_tcp_abc` off (`set_ca_default_param linux sysctl_tcp_abc 66304`: a byte, set as four) \
               ns-2 has 22.1, 16.9, 18.0 and 17.0 Mbit/s in place of 23.6, 24.7, 23.5 and 20.8 (`dumbbell.tcl \
               Linux-westwood 1 100 40 0.01 100000 100 20`, seeds 1 to 4). And it finds lost retransmissions, and \
               never times out. All of these rules, tried here, have 25.8 Mbit/s and 1,984 losses at 1 %, 78.6 and \
               773 at 0.1 %; without the bytes of recoveries 15.9 Mbit/s, without RACK for the lost retransmissions \
               14.5, without both 13.7. Its agent does not keep to the receiver's window (`LinuxTcpAgent::window`): \
               64 KB in 40 ms are 12.8 Mbit/s, it has up to 23.1. Today's Linux rule (Reno's half until a recovery \
               ends) comes to 41 and 6 Mbit/s.",
        explains: |case, column| case.transport == "Westwood+" && case.loss > 0.0 && column != "blk_p50",
        with: None,
    },
    Cause {
        text: "Barrier reads are decided by which of two simultaneous events goes first. Servers and client have the \
               same rate, so that packets come to the port at the very time when one leaves it; a full port takes \
               them or drops them by the order of the two, and all of a server's at once. In ns-2 rounding decides. \
               With links of the servers slower or faster by 1e-5 ns-2 itself, two servers of 128 KB, drops 315 to \
               324 packets or 129 to 213 in place of 241 to 256, and 64 of 32 KB 9,280 to 10,110 or 6,507 to 7,399 \
               (three seeds each). Here one bit per second between the links (1e-9) is enough: 32 servers of 32 KB \
               have 41 Mbit/s and 265 timeouts in place of 47 and 128, and sixteen with ns-2's idle rule 182 and 34 \
               in place of 756 and 2. Where clocks differ at random by up to 100 ppm, as Ethernet's may, nothing is \
               simultaneous, and the two agree: 16 servers of 32 KB drop 8,359 to 8,522 packets and time out 38 to 54 \
               times in ns-2, 8,314 to 8,496 and 28 to 52 times here; 32 servers 6,653 to 6,891 and 329 to 368, here \
               6,482 to 6,758 and 301 to 354; 64 servers, with ns-2's idle rule, 3,393 to 3,574 and 991 to 1,030, \
               here 3,379 to 3,571 and 973 to 1,017 (rows *clocks to 100 ppm*; the test \
               `barrier_reads_go_as_in_ns_2_where_nothing_is_simultaneous`). Two servers of 128 KB drop 135 packets \
               and do not time out where both links are faster by 75 ppm, here and in ns-2, else 220 to 335. ns-3's \
               client sends requests besides, and its last segments are partial.",
        explains: |case, _| case.family == "incast",
        with: None,
    },
    Cause {
        text: "Connections kept over sessions are decided, as barrier reads are, by which of simultaneous packets \
               comes first. At 10 Mbit/s a client's packet takes 832 us, exactly 200 of the 4.16 us that the port \
               takes for one, so that the packets of many clients come to the full port at the same part of such a \
               slot, and at the same time; one takes the free place. Here 10 bits per second between the clients' \
               links (1e-6, at random) are enough: 37,710 packets are dropped in place of 48,257, with 5,797 timeouts \
               in place of 6,502, and the median session takes 0.067 s in place of 0.192; without SACK 42,058 in place \
               of 48,989 (seed 1). So it is in ns-2: with 1,000 Gbit/s on the way back it drops 34,889 in place of \
               39,420, and the median session takes 0.060 s in place of 0.150. Its acknowledgements besides are 8 \
               bytes longer for each SACK block, which moves what a recovery sends by 6.4 us; with `count-options = \
               true`, 4 bytes and 8 for each as of hosts, 39,735, 40,731 and 40,303 are dropped here, but the median \
               session is 0.09 to 0.11 s. Where the rates of the clients' links differ by up to 5 % (`incast_kept.tcl \
               2000 10 1.5 1 0.05`), the drops agree: 39,651 and 41,025 in ns-2, with 6,356 and 6,479 timeouts, \
               40,146, 40,514 and 40,246 here, with 6,335, 6,401 and 6,296. The median session is 0.176 and 0.186 s \
               there, 0.166 and 0.185 where connections are opened before as here, and 0.136 to 0.149 s here: not \
               found. It is not in what one connection does: with 3 to 20 % of segments lost at random and blocks \
               written on a clock, 118 of 120 vectors end in the same millisecond as in ns-2 with as many timeouts and \
               retransmissions (twenty are in `crates/tcp/tests/it/ns2/open.csv`, with `open.tcl`). Nor is it many \
               losses in a row (24 vectors with up to twenty agree), a lost SYN, the idle rule (44,654 with ns-2's), \
               nor the 16 bits in which ns-2 takes a change of the round trip: with a clock of 10 us (`tcpTick_`) its \
               run is the same. Nor is it that a segment timed inside a recovery stays timed in ns-2 \
               (`TcpAgent::output`): tried here, not one packet differs. Nor is it the bound of its back-off, 64, or \
               that it forgets SRTT when it has backed off by more than 8: that takes four timeouts in a row, three \
               seconds, in a run of 1.5. The other numbers are of `incast_kept.csv`: the table's row counts a session \
               as done when its connection has nothing left to send, with the time since the last one began (9,494, \
               median 11.7 ms; `incast_kept.tcl` says 9,001 and 11.7, as `idle`), and not sessions whose bytes are \
               acknowledged.",
        explains: |case, _| case.name.contains("kept"),
        with: None,
    },
    Cause {
        text: "DCTCP's marks. ns-3 goes on counting acknowledged segments over a cut, and opens cwnd when the count \
               reaches the whole segments of a cwnd of bytes (`TcpLinuxReno::CongestionAvoidance`). Linux counts anew \
               (`tcp_enter_cwr`), and so it is here since that was found. By both of ns-3's rules, tried here, \
               sixteen flows have 79,147 to 80,445 marks and a queue of 63.6 packets, ns-3's; by the first alone \
               75,769 to 76,803. Two flows have 30,585 to 31,270, 8 % less than ns-3's one seed.",
        explains: |case, column| case.transport == "DCTCP" && column == "marks",
        with: None,
    },
    Cause {
        text: "BBR on Linux. A host's clock jitters, and the bandwidth filter keeps the highest sample of ten rounds. \
               A flow alone on 10 Mbit/s gets 9.568 through; there, in a run of 26 s, `ss -ti` showed estimates of \
               9.565 to 9.697. That takes back the hundredth by which it paces below the estimate \
               (`bbr_pacing_margin_percent`), and 8.5 packets wait. Without that hundredth, tried here, 8.6 packets \
               of one flow wait where each segment is acknowledged and 7.9 elsewhere, at 100 Mbit/s 36.5; two flows \
               drop 3,695 and 3,875; sixteen at 100 Mbit/s 31,826, which is 10 % off.",
        explains: |case, _| case.family == "hosts" && case.transport == "BBR",
        with: None,
    },
    Cause {
        text: "How often Linux acknowledges. Its receivers acknowledge two segments at once as here, but also as soon \
               as a program has read all of a burst that was pushed (`tcp_cleanup_rbuf`): 2,331 ACKs for 3,328 \
               segments. ACKs that are closer let HyStart end slow start before the queue overflows: of one CUBIC \
               flow some 30 drops fall into the first second here, of Linux's 4. Where each segment is acknowledged (rows \
               *ACK per segment*; on Linux by the route's `quickack`) the two agree. Sixteen flows of Reno lost 3,361 \
               there until a window was halved in whole segments here too: a trace of the host's `tcp_probe` has 2 left \
               of 5 1,311 times, 3 of 7, 4 of 9.",
        explains: |case, column| case.family == "hosts" && case.transport != "BBR" && column != "goodput_warm_mbps",
        with: None,
    },
    Cause {
        text: "CUBIC's all-to-all waits for the timer. RFC 6675 does not find a retransmission that is lost as well: it \
               waits for a timeout of 200 ms, and the last flows for several. Three seeds have 225 to 252 timeouts \
               here, ns-2's copy of Linux, which finds lost retransmissions, 21 to 25. With `recovery = \"rack\"`, \
               which finds them as Linux does today, there are 5 to 12, and 20,230 drops at hosts and 16,106 at the \
               switch. It is not proportional reduction (off: 4.308 s, and 3.939 with RACK), HyStart (3.965 with \
               RACK), the recovery of Sack1 (4.264), nor that ns-2's agent does not keep to the window (100,000 \
               segments in place of 180: 3.949 and 3.917 s).",
        explains: |case, column| case.family == "shuffle" && case.transport == "CUBIC" && column == "completion",
        with: Some(|tcp| tcp.recovery = Recovery::Rack),
    },
];

/// The first cause that explains this number.
pub fn cause_of(case: &Case, column: &str) -> Option<usize> {
    CAUSES.iter().position(|cause| (cause.explains)(case, column))
}
