package trunkline.hadoop;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How long tasks have waited for the hosts that they are bound to, and which of them is bound too strictly.
 *
 * <p>A task is first bound to the host that processes its data; after half of the fallback time to all hosts that have its
 * data; after the whole to none. Time begins anew whenever a host takes a task of the job: a host that works off its own
 * tasks is neither dead nor full. A host that is known to be lost is waited for no longer.
 */
public final class Waiting<T> {
    /** How strictly a task is bound. */
    public enum Bond {
        /** To the host that processes its data. */
        FIRST,
        /** To the hosts that have its data. */
        HOLDERS,
        /** To none. */
        ANYWHERE
    }

    private static final class State {
        final long since;
        final List<String> hosts;
        Bond bond = Bond.FIRST;

        State(long since, List<String> hosts) {
            this.since = since;
            this.hosts = hosts;
        }
    }

    private final long fallbackMs;
    private final Map<T, State> tasks = new LinkedHashMap<>();
    private final Map<String, Long> granted = new HashMap<>();
    private final Set<String> lost = new HashSet<>();

    /** With this fallback time, in milliseconds. */
    public Waiting(long fallbackMs) {
        this.fallbackMs = fallbackMs;
    }

    /** A task waits from now on, bound to the first of these hosts, of which there is one at least. */
    public void add(T task, List<String> hosts, long nowMs) {
        tasks.put(task, new State(nowMs, hosts));
    }

    /** Only these tasks still wait. */
    public void keep(Collection<T> waiting) {
        tasks.keySet().retainAll(waiting);
    }

    /** Whether a task waits. */
    public boolean has(T task) {
        return tasks.containsKey(task);
    }

    /** A host has taken a task of the job. */
    public void granted(String host, long nowMs) {
        granted.put(host, nowMs);
        lost.remove(host);
    }

    /** A host is lost, or is back. */
    public void lost(String host, boolean isLost) {
        if (isLost) {
            lost.add(host);
        } else {
            lost.remove(host);
        }
    }

    /** The hosts to which a task is bound; none if to none, or if it does not wait. */
    public List<String> hosts(T task) {
        State state = tasks.get(task);
        if (state == null || state.bond == Bond.ANYWHERE) {
            return List.of();
        }
        return state.bond == Bond.FIRST ? state.hosts.subList(0, 1) : state.hosts;
    }

    /** How strictly a task is bound. */
    public Bond bond(T task) {
        State state = tasks.get(task);
        return state == null ? Bond.ANYWHERE : state.bond;
    }

    /** Loosens the bonds of tasks that have waited long enough; returns these tasks. */
    public List<T> loosen(long nowMs) {
        List<T> loosened = new ArrayList<>();
        tasks.forEach((task, state) -> {
            Bond due = due(state, nowMs);
            if (due.compareTo(state.bond) > 0) {
                state.bond = due;
                loosened.add(task);
            }
        });
        return loosened;
    }

    private Bond due(State state, long nowMs) {
        if (lost.containsAll(state.hosts)) {
            return Bond.ANYWHERE;
        }
        String first = state.hosts.get(0);
        boolean hasLostFirst = lost.contains(first);
        long idleMs = nowMs - Math.max(state.since, granted.getOrDefault(first, state.since));
        if (idleMs >= fallbackMs) {
            return Bond.ANYWHERE;
        }
        return hasLostFirst || idleMs >= fallbackMs / 2 ? Bond.HOLDERS : Bond.FIRST;
    }
}
