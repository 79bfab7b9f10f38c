package org.apache.hadoop.mapreduce.v2.app;

import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobContext;
import org.apache.hadoop.mapreduce.JobStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.mapreduce.TypeConverter;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.mapreduce.v2.app.client.ClientService;
import org.apache.hadoop.mapreduce.v2.app.local.LocalContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.ContainerAllocatorEvent;
import org.apache.hadoop.mapreduce.v2.app.rm.LocalityAllocator;
import org.apache.hadoop.mapreduce.v2.app.rm.RMCommunicator;
import org.apache.hadoop.mapreduce.v2.app.rm.RMHeartbeatHandler;
import org.apache.hadoop.mapreduce.v2.app.rm.preemption.AMPreemptionPolicy;
import org.apache.hadoop.mapreduce.v2.util.MRApps;
import org.apache.hadoop.mapreduce.v2.util.MRWebAppUtil;
import org.apache.hadoop.service.AbstractService;
import org.apache.hadoop.service.Service;
import org.apache.hadoop.service.ServiceOperations;
import org.apache.hadoop.util.ExitUtil;
import org.apache.hadoop.util.ShutdownHookManager;
import org.apache.hadoop.yarn.YarnUncaughtExceptionHandler;
import org.apache.hadoop.yarn.api.ApplicationConstants;
import org.apache.hadoop.yarn.api.ApplicationConstants.Environment;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hadoop's AppMaster for MapReduce with {@link LocalityAllocator} in place of its allocator.
 *
 * <p>A job gets it by a setting: {@code yarn.app.mapreduce.am.command-opts} may end with a class's name, which Java then
 * starts with Hadoop's own AppMaster as an argument that is not heeded. Jobs that run within their AppMaster (uber) are
 * Hadoop's own affair.
 */
public final class LocalityAppMaster extends MRAppMaster {
    private static final Logger LOG = LoggerFactory.getLogger(LocalityAppMaster.class);

    private final ContainerId container;
    private final String host;
    private final int port;
    private final int httpPort;
    private AMPreemptionPolicy preemption;
    private Router router;

    LocalityAppMaster(
            ApplicationAttemptId attempt, ContainerId container, String host, int port, int httpPort, long submitted) {
        super(attempt, container, host, port, httpPort, submitted);
        this.container = container;
        this.host = host;
        this.port = port;
        this.httpPort = httpPort;
    }

    @Override
    protected AMPreemptionPolicy createPreemptionPolicy(Configuration conf) {
        preemption = super.createPreemptionPolicy(conf);
        return preemption;
    }

    @Override
    protected ContainerAllocator createContainerAllocator(ClientService client, AppContext context) {
        router = new Router(client, context);
        return router;
    }

    /** Hadoop's own tells only an allocator of its own class. */
    @Override
    public void notifyIsLastAMRetry(boolean isLast) {
        super.notifyIsLastAMRetry(isLast);
        if (router != null) {
            router.setShouldUnregister(isLast);
        }
    }

    /**
     * Makes the allocator once the job is known: as Hadoop's own, of which neither the class nor the allocator can be
     * replaced.
     */
    private final class Router extends AbstractService implements ContainerAllocator, RMHeartbeatHandler {
        private final ClientService client;
        private final AppContext context;
        private ContainerAllocator allocator;
        private boolean shouldUnregister = true;

        Router(ClientService client, AppContext context) {
            super(Router.class.getName());
            this.client = client;
            this.context = context;
        }

        @Override
        protected void serviceStart() throws Exception {
            boolean isUber = context.getAllJobs().values().stream().anyMatch(job -> job.isUber());
            allocator = isUber ? local() : new LocalityAllocator(client, context, preemption);
            ((Service) allocator).init(getConfig());
            ((Service) allocator).start();
            setShouldUnregister(shouldUnregister);
            super.serviceStart();
        }

        private ContainerAllocator local() throws IOException {
            MRApps.setupDistributedCacheLocal(getConfig());
            return new LocalContainerAllocator(client, context, host, port, httpPort, container);
        }

        @Override
        protected void serviceStop() throws Exception {
            ServiceOperations.stop((Service) allocator);
            super.serviceStop();
        }

        @Override
        public void handle(ContainerAllocatorEvent event) {
            allocator.handle(event);
        }

        @Override
        public long getLastHeartbeatTime() {
            return ((RMHeartbeatHandler) allocator).getLastHeartbeatTime();
        }

        @Override
        public void runOnNextHeartbeat(Runnable callback) {
            ((RMHeartbeatHandler) allocator).runOnNextHeartbeat(callback);
        }

        void setShouldUnregister(boolean should) {
            shouldUnregister = should;
            if (allocator != null) {
                ((RMCommunicator) allocator).setShouldUnregister(should);
            }
        }

        void setSignalled() {
            if (allocator != null) {
                ((RMCommunicator) allocator).setSignalled(true);
            }
        }
    }

    /** On SIGTERM: what Hadoop's own hook does, which knows only its own allocator. */
    private void terminate() {
        LOG.info("A signal has come: the AppMaster stops");
        if (router != null) {
            router.setSignalled();
        }
        notifyIsLastAMRetry(isLastAMRetry);
        stop();
        try {
            if (getCommitter() != null) {
                JobContext job = new JobContextImpl(getConfig(), TypeConverter.fromYarn(getJobId()));
                JobContext ofCommitter = isNewApiCommitter()
                        ? job
                        : new org.apache.hadoop.mapred.JobContextImpl(
                                new JobConf(getConfig()), TypeConverter.fromYarn(getJobId()));
                getCommitter().abortJob(ofCommitter, JobStatus.State.KILLED);
            }
        } catch (IOException error) {
            LOG.warn("What the job had written is not cleaned up", error);
        }
    }

    /** As {@link MRAppMaster#main}: the NodeManager says in the environment which attempt this is. */
    public static void main(String[] arguments) {
        try {
            Thread.setDefaultUncaughtExceptionHandler(new YarnUncaughtExceptionHandler());
            Map<String, String> environment = System.getenv();
            ContainerId container = ContainerId.fromString(value(environment, Environment.CONTAINER_ID.name()));
            LocalityAppMaster master = new LocalityAppMaster(
                    container.getApplicationAttemptId(),
                    container,
                    value(environment, Environment.NM_HOST.name()),
                    Integer.parseInt(value(environment, Environment.NM_PORT.name())),
                    Integer.parseInt(value(environment, Environment.NM_HTTP_PORT.name())),
                    Long.parseLong(value(environment, ApplicationConstants.APP_SUBMIT_TIME_ENV)));
            ShutdownHookManager.get().addShutdownHook(master::terminate, SHUTDOWN_HOOK_PRIORITY);
            JobConf conf = new JobConf(new YarnConfiguration());
            conf.addResource(new Path(MRJobConfig.JOB_CONF_FILE));
            MRWebAppUtil.initialize(conf);
            String user = value(environment, Environment.USER.name());
            conf.set(MRJobConfig.USER_NAME, user);
            initAndStartAppMaster(master, conf, user);
        } catch (Throwable error) {
            LOG.error("The AppMaster does not start", error);
            ExitUtil.terminate(1, error);
        }
    }

    private static String value(Map<String, String> environment, String name) throws IOException {
        String value = environment.get(name);
        if (value == null) {
            throw new IOException(name + " is not in the environment: a NodeManager starts this class");
        }
        return value;
    }
}
