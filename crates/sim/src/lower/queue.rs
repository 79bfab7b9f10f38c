//! Queues: a scenario's kinds become disciplines.

use net::{CodelSpec, DelayEstimate, Discipline, FqCodelSpec, Limit, PieSpec, RedSpec};
use scenario::{Codel, FqCodel, PieDelay, Queue, QueueKind, QueueLimit};
use units::Bytes;

/// The discipline of a queue whose full packet is `packet` on the wire; `classes` counts the classes of priority.
pub(super) fn discipline(queue: &Queue, packet: Bytes, classes: u32) -> Discipline {
    match queue.kind {
        QueueKind::DropTail => Discipline::DropTail,
        QueueKind::Threshold => Discipline::Threshold { mark_above: queue.mark_above.map_or(Limit::Unlimited, limit) },
        QueueKind::Red => Discipline::Red(queue.red.as_ref().map_or_else(RedSpec::default, |red| RedSpec {
            min: red.min.map(limit),
            max: red.max.map(limit),
            max_p: red.max_p,
            weight: red.weight,
            gentle: red.gentle,
            adaptive: red.adaptive,
            ecn: red.ecn,
            packet: red.packet,
        })),
        QueueKind::Codel => {
            let Codel { target, interval, ecn } = queue.codel.clone().unwrap_or_default();
            Discipline::Codel(CodelSpec { target, interval, ecn, packet })
        }
        QueueKind::FqCodel => {
            let FqCodel { flows, quantum, batch, target, interval, ecn } = queue.fq_codel.clone().unwrap_or_default();
            let codel = CodelSpec { target, interval, ecn, packet };
            Discipline::FqCodel(FqCodelSpec { codel, flows, quantum: quantum.unwrap_or(packet), batch })
        }
        QueueKind::Pie => {
            let pie = queue.pie.clone().unwrap_or_default();
            Discipline::Pie(PieSpec {
                target: pie.target,
                update: pie.update,
                burst: pie.burst,
                alpha: pie.alpha,
                beta: pie.beta,
                estimate: match pie.delay {
                    PieDelay::Timestamp => DelayEstimate::Timestamp,
                    PieDelay::DepartureRate => DelayEstimate::DepartureRate,
                },
                mark_up_to: pie.mark_up_to,
                derandomize: pie.derandomize,
                packet,
            })
        }
        QueueKind::Priority => Discipline::Priority { classes },
    }
}

/// The bound of a queue.
pub(super) const fn limit(limit: QueueLimit) -> Limit {
    match limit {
        QueueLimit::Packets(packets) => Limit::Packets(packets),
        QueueLimit::Bytes(bytes) => Limit::Bytes(bytes),
        QueueLimit::Delay(delay) => Limit::Delay(delay),
    }
}
