package org.apache.hadoop.mapreduce.v2.app.rm;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.v2.api.records.TaskAttemptId;
import org.apache.hadoop.mapreduce.v2.api.records.TaskType;
import org.apache.hadoop.mapreduce.v2.app.AppContext;
import org.apache.hadoop.mapreduce.v2.app.client.ClientService;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.AMPreemptionPolicy;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.util.RackResolver;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trunkline.hadoop.JobLayout;
import trunkline.hadoop.Waiting;

/**
 * Asks YARN for the hosts where a job's data are laid out by key: strictly, for as long as {@link #FALLBACK_MS} says.
 *
 * <p>Strictness is a matter of a whole priority in YARN, so tasks that are bound to no host any longer have another one: maps
 * that of maps that failed before, reducers {@link #LOOSE_REDUCE}. A job whose input is not laid out for it is scheduled as
 * by Hadoop's own allocator.
 */
public final class LocalityAllocator extends RMContainerAllocator {
    /** Property: how many milliseconds a task waits for the hosts of its data. */
    public static final String FALLBACK_MS = "trunkline.locality.fallback-ms";
    /** Long beside a heartbeat, short beside a job: with YARN's heartbeats a lost node costs less than 30 s. */
    public static final long DEFAULT_FALLBACK_MS = 20_000;

    private static final Logger LOG = LoggerFactory.getLogger(LocalityAllocator.class);
    /** Reducers that may run anywhere; between those of Hadoop's reducers (10) and maps (20). */
    private static final Priority LOOSE_REDUCE = Priority.newInstance(11);

    /** The combiner's class of a job by the older interface; Hadoop has no name for it. */
    private static final String OLD_COMBINER = "mapred.combiner.class";

    private static final int ATTEMPTS_OF_AN_APP_MASTER = 1000;

    private JobLayout layout;
    private Waiting<TaskAttemptId> waiting;
    /**
     * Attempts that may run anywhere: they have waited long enough, have no data, or another attempt of their task came
     * before, which failed on its host or is slow there.
     */
    private final Set<TaskAttemptId> free = new HashSet<>();

    /** As Hadoop's own. */
    public LocalityAllocator(ClientService service, AppContext context, AMPreemptionPolicy preemption) {
        super(service, context, preemption);
    }

    @Override
    protected void serviceInit(Configuration conf) throws Exception {
        super.serviceInit(conf);
        waiting = new Waiting<>(conf.getLong(FALLBACK_MS, DEFAULT_FALLBACK_MS));
        JobLayout.Result found;
        try {
            boolean combines = conf.get(MRJobConfig.COMBINE_CLASS_ATTR) != null || conf.get(OLD_COMBINER) != null;
            found = JobLayout.of(
                    JobSplits.read(conf, getContext().getApplicationID()),
                    conf.getInt(MRJobConfig.NUM_REDUCES, 1),
                    combines);
        } catch (IOException | RuntimeException error) {
            // A job that cannot be placed is still a job.
            LOG.warn("Placement by key is off for this job: its splits cannot be read", error);
            return;
        }
        layout = found.layout().orElse(null);
        LOG.info(layout == null ? "Placement by key is off for this job: " + found.reason() : layout.toString());
    }

    @Override
    protected synchronized void handleEvent(ContainerAllocatorEvent event) {
        super.handleEvent(
                layout != null && event instanceof ContainerRequestEvent
                        ? bound((ContainerRequestEvent) event)
                        : event);
    }

    /** The request for the first host of the attempt's data, or for any host if it may run anywhere. */
    private ContainerRequestEvent bound(ContainerRequestEvent event) {
        TaskAttemptId attempt = event.getAttemptID();
        // An AppMaster's second attempt numbers those of its tasks from 1000 on.
        boolean isFirst = attempt.getId() % ATTEMPTS_OF_AN_APP_MASTER == 0;
        if (!isFirst || event.getEarlierAttemptFailed() || hosts(attempt).isEmpty()) {
            free.add(attempt);
            return isMap(attempt)
                    ? ContainerRequestEvent.createContainerRequestEventForFailedContainer(
                            attempt, event.getCapability())
                    : event;
        }
        List<String> first = hosts(attempt).subList(0, 1);
        return new ContainerRequestEvent(attempt, event.getCapability(), first.toArray(new String[0]), racks(first));
    }

    private static String[] racks(List<String> hosts) {
        return hosts.stream()
                .map(host -> RackResolver.resolve(host).getNetworkLocation())
                .distinct()
                .toArray(String[]::new);
    }

    private List<String> hosts(TaskAttemptId attempt) {
        int number = attempt.getTaskId().getId();
        return isMap(attempt) ? layout.ofMap(number) : layout.ofReduce(number);
    }

    private static boolean isMap(TaskAttemptId attempt) {
        return attempt.getTaskId().getTaskType() == TaskType.MAP;
    }

    @Override
    protected synchronized void heartbeat() throws Exception {
        if (layout != null) {
            loosen(Time.monotonicNow());
        }
        super.heartbeat();
    }

    /** Tasks wait from when they are asked for. Asks anew for those that have waited long enough. */
    private void loosen(long nowMs) {
        ScheduledRequests scheduled = getScheduledRequests();
        List<TaskAttemptId> all = new ArrayList<>(scheduled.maps.keySet());
        all.addAll(scheduled.reduces.keySet());
        waiting.keep(all);
        for (TaskAttemptId attempt : all) {
            if (!free.contains(attempt)) {
                if (!waiting.has(attempt) && !hosts(attempt).isEmpty()) {
                    waiting.add(attempt, hosts(attempt), nowMs);
                }
            } else if (!isMap(attempt)
                    && !scheduled.reduces.get(attempt).priority.equals(LOOSE_REDUCE)) {
                askAgain(scheduled, attempt, List.of());
            }
        }
        for (TaskAttemptId attempt : waiting.loosen(nowMs)) {
            List<String> hosts = waiting.hosts(attempt);
            LOG.info(
                    "{} has waited for {}: it may now run {}",
                    attempt,
                    hosts(attempt),
                    hosts.isEmpty() ? "anywhere" : "on any of these");
            if (hosts.isEmpty()) {
                free.add(attempt);
            }
            askAgain(scheduled, attempt, hosts);
        }
    }

    private void askAgain(ScheduledRequests scheduled, TaskAttemptId attempt, List<String> hosts) {
        boolean isMap = isMap(attempt);
        ContainerRequest before = isMap ? scheduled.maps.get(attempt) : scheduled.reduces.get(attempt);
        if (before == null || !scheduled.remove(attempt)) {
            return;
        }
        if (!isMap) {
            scheduled.addReduce(new ContainerRequest(
                    attempt,
                    before.capability,
                    hosts.toArray(new String[0]),
                    racks(hosts),
                    hosts.isEmpty() ? LOOSE_REDUCE : PRIORITY_REDUCE,
                    before.nodeLabelExpression));
        } else if (hosts.isEmpty()) {
            scheduled.addMap(
                    ContainerRequestEvent.createContainerRequestEventForFailedContainer(attempt, before.capability));
        } else {
            scheduled.addMap(
                    new ContainerRequestEvent(attempt, before.capability, hosts.toArray(new String[0]), racks(hosts)));
        }
    }

    @Override
    protected AllocateResponse makeRemoteRequest() throws YarnException, IOException {
        if (layout == null) {
            return super.makeRemoteRequest();
        }
        for (ResourceRequest request : getAsk()) {
            Priority priority = request.getPriority();
            if (PRIORITY_MAP.equals(priority) || PRIORITY_REDUCE.equals(priority)) {
                // Of a host's own requests it means nothing; of racks' and of "*" that no other host will do.
                request.setRelaxLocality(false);
            }
        }
        AllocateResponse response = super.makeRemoteRequest();
        for (NodeReport node : response.getUpdatedNodes()) {
            waiting.lost(node.getNodeId().getHost(), node.getNodeState().isUnusable());
        }
        match(response.getAllocatedContainers());
        return response;
    }

    /**
     * Hadoop's allocator gives reducers' containers away in the order in which reducers were asked for. So they are put
     * into the order of the hosts that have come.
     */
    private void match(List<Container> containers) {
        LinkedHashMap<TaskAttemptId, ContainerRequest> reduces = getScheduledRequests().reduces;
        Map<TaskAttemptId, ContainerRequest> ordered = new LinkedHashMap<>();
        for (Container container : containers) {
            String host = container.getNodeId().getHost();
            waiting.granted(host, Time.monotonicNow());
            Priority priority = container.getPriority();
            boolean isLoose = LOOSE_REDUCE.equals(priority);
            if (isLoose) {
                container.setPriority(PRIORITY_REDUCE);
            } else if (!PRIORITY_REDUCE.equals(priority)) {
                continue;
            }
            TaskAttemptId attempt = reducerFor(host, isLoose, reduces, ordered);
            if (attempt != null) {
                ordered.put(attempt, reduces.get(attempt));
                LOG.info("{} belongs on {} and runs on {}", attempt, hosts(attempt), host);
            }
        }
        if (!ordered.isEmpty()) {
            reduces.keySet().removeAll(ordered.keySet());
            ordered.putAll(reduces);
            reduces.clear();
            reduces.putAll(ordered);
        }
    }

    /** A reducer that asked at this priority, best one that is bound to the host. */
    private TaskAttemptId reducerFor(
            String host,
            boolean isLoose,
            Map<TaskAttemptId, ContainerRequest> reduces,
            Map<TaskAttemptId, ContainerRequest> taken) {
        TaskAttemptId any = null;
        for (Map.Entry<TaskAttemptId, ContainerRequest> entry : reduces.entrySet()) {
            boolean isOfPriority = entry.getValue().priority.equals(isLoose ? LOOSE_REDUCE : PRIORITY_REDUCE);
            if (isOfPriority && !taken.containsKey(entry.getKey())) {
                List<String> bound = isLoose ? hosts(entry.getKey()) : waiting.hosts(entry.getKey());
                if (bound.contains(host)) {
                    return entry.getKey();
                }
                any = any == null ? entry.getKey() : any;
            }
        }
        return any;
    }
}
