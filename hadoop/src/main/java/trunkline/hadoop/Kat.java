package trunkline.hadoop;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.client.HdfsClientConfigKeys.BlockWrite.ReplaceDatanodeOnFailure;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.DatanodeReportType;
import org.apache.hadoop.io.IOUtils;

/**
 * What {@code trunkline kat} needs of HDFS. It decides nothing: keys, buckets and nodes are those of the plan.
 *
 * <p>Answers are lines with tabs between fields. What fails is told on standard error as {@code kat: reason}, and the exit
 * code is 1.
 */
public final class Kat {
    private static final int BUFFER = 1 << 16;
    /** Looks at what DataNodes say, for as long as a heartbeat takes and a moment. */
    private static final int HEARTBEAT_LOOKS = 20;

    private static final Set<String> OF_LOADS = Set.of("probe", "put", "cat", "write", "redistribute");

    private final FileSystem files;
    private final PrintStream say;

    Kat(FileSystem files, PrintStream say) {
        this.files = files;
        this.say = say;
    }

    /** Runs one command. */
    public static void main(String[] arguments) {
        // Standard output is for answers; what Hadoop logs there goes to standard error.
        // System.out would hide that nobody reads it any longer.
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        PrintStream answers = new PrintStream(new BufferedOutputStream(out, BUFFER), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        int code = 0;
        try {
            if (arguments.length < 2) {
                throw new IllegalArgumentException("COMMAND PATH [ARGUMENT...]; `trunkline kat` calls this");
            }
            Path path = new Path(arguments[1]);
            Kat kat = new Kat(path.getFileSystem(settings()), answers);
            kat.run(arguments[0], path, Arrays.asList(arguments).subList(2, arguments.length));
        } catch (IOException | RuntimeException error) {
            System.err.println("kat: " + reason(arguments.length == 0 ? "" : arguments[0], error));
            code = 1;
        }
        answers.flush();
        System.err.flush();
        // Streams that could not be closed keep threads of the client.
        Runtime.getRuntime().halt(code);
    }

    /**
     * The site's settings, but where a DataNode dies while a block is written to it: another takes its place at once,
     * however few replicas there are to be. HDFS's default leaves a block of two replicas with one, whose copy it then sends
     * to the dead node until that is known to be dead, for ten minutes.
     */
    static Configuration settings() {
        Configuration settings = new Configuration();
        settings.set(ReplaceDatanodeOnFailure.POLICY_KEY, "ALWAYS");
        settings.setBoolean(ReplaceDatanodeOnFailure.BEST_EFFORT_KEY, true);
        return settings;
    }

    /** Why a command failed, and what to do where that is HDFS's fault and the command a part of a load. */
    static String reason(String command, Throwable error) {
        String message = error.getMessage() == null ? error.getClass().getName() : error.getMessage();
        String first = message.lines().findFirst().orElse(message);
        return error instanceof IOException && OF_LOADS.contains(command)
                ? first + "; files that stand in their places are whole, and the same command goes on with the others"
                : first;
    }

    private void run(String command, Path path, java.util.List<String> arguments) throws IOException {
        InputStream in = new BufferedInputStream(System.in, BUFFER);
        switch (command) {
            case "look":
                look(path);
                break;
            case "probe":
                probe(path, arguments);
                break;
            case "put":
                put(path, Short.parseShort(arguments.get(0)), in);
                break;
            case "cat":
                cat(path);
                break;
            case "write":
                write(path, arguments, in);
                break;
            case "redistribute":
                redistribute(path, arguments, in);
                break;
            case "read":
                read(path);
                break;
            case "judge":
                judge(new DataInputStream(in), new Buckets(arguments.get(0)));
                break;
            default:
                throw new IllegalArgumentException(command + " is no command");
        }
    }

    private void write(Path folder, java.util.List<String> arguments, InputStream in) throws IOException {
        short replicas = Short.parseShort(arguments.get(0));
        long patienceMs = 1000 * Long.parseLong(arguments.get(2));
        Buckets judge = new Buckets(arguments.get(1));
        try {
            new PlacedWriter(files, folder, replicas, judge, patienceMs, addresses())
                    .take(new DataInputStream(in), say);
        } catch (IOException error) {
            throw withNodes(error, folder);
        }
    }

    private void redistribute(Path folder, java.util.List<String> arguments, InputStream in) throws IOException {
        PlacedReplicas replicas = new PlacedReplicas(files, Short.parseShort(arguments.get(0)), addresses());
        long patienceMs = 1000 * Long.parseLong(arguments.get(1));
        long bytesPerSecond = Long.parseLong(arguments.get(2));
        try {
            new Redistribution(files, files.getConf(), folder, replicas, patienceMs, bytesPerSecond)
                    .take(new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8)), say);
        } catch (IOException error) {
            throw withNodes(error, folder);
        }
    }

    /** The reason, and which nodes are full. Of a disk that has just become full the NameNode hears by a heartbeat. */
    private IOException withNodes(IOException error, Path folder) throws IOException {
        String reason = reason("", error);
        long block = files.getDefaultBlockSize(folder);
        String full = withoutRoom(live(), block);
        for (int look = 0; look < HEARTBEAT_LOOKS && full.isEmpty() && reason.contains("datanode"); look++) {
            PlacedReplicas.pause();
            full = withoutRoom(live(), block);
        }
        return new IOException(reason + full, error);
    }

    /** DataNodes that live, or none if HDFS does not answer. */
    private DatanodeInfo[] live() {
        try {
            return hdfs().getDataNodeStats(DatanodeReportType.LIVE);
        } catch (IOException error) {
            return new DatanodeInfo[0];
        }
    }

    /** Which nodes have no room, in words: HDFS's own may be that all datanodes are bad. */
    static String withoutRoom(DatanodeInfo[] nodes, long block) {
        String full = Arrays.stream(nodes)
                .filter(node -> node.getRemaining() < block)
                .map(DatanodeInfo::getHostName)
                .sorted()
                .collect(Collectors.joining(", "));
        return full.isEmpty() ? "" : "; without room for a block of " + block + " bytes: " + full;
    }

    /** The cluster's DataNodes, and what a folder holds: files with the hosts of their blocks, and what stands aside. */
    private void look(Path folder) throws IOException {
        for (DatanodeInfo node : hdfs().getDataNodeStats(DatanodeReportType.LIVE)) {
            say.println(String.join(
                    "\t",
                    "node",
                    node.getHostName(),
                    node.getNetworkLocation(),
                    Long.toString(node.getRemaining()),
                    node.getAdminState().toString()));
        }
        FileStatus[] entries;
        try {
            entries = files.listStatus(folder);
        } catch (FileNotFoundException error) {
            return;
        }
        for (FileStatus file : entries) {
            if (file.isFile()) {
                say.println(String.join(
                        "\t",
                        "file",
                        file.getPath().getName(),
                        Long.toString(file.getLen()),
                        Short.toString(file.getReplication()),
                        hosts(file)));
            }
        }
        Path aside = new Path(folder, PlacedWriter.ASIDE);
        for (FileStatus partial : Redistribution.listed(files, new Path(aside, "partial"))) {
            say.println("aside\t" + partial.getPath().getName());
        }
        for (String name : new String[] {"manifest", "loaded"}) {
            try (InputStream in = files.open(new Path(aside, name))) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                say.println(name + "\t" + text.replace("\n", ""));
            } catch (FileNotFoundException error) {
                // Nothing was loaded, or not to its end.
            }
        }
    }

    /** Of each block its hosts, between commas; between blocks semicolons. */
    private String hosts(FileStatus file) throws IOException {
        BlockLocation[] blocks = files.getFileBlockLocations(file, 0, file.getLen());
        StringBuilder text = new StringBuilder();
        for (BlockLocation block : blocks) {
            text.append(text.length() == 0 ? "" : ";").append(String.join(",", block.getHosts()));
        }
        return text.toString();
    }

    /** Writes a small file for each host, and says where it came to stand: a NameNode without the policy puts it anywhere. */
    private void probe(Path folder, java.util.List<String> hosts) throws IOException {
        Path aside = new Path(folder, PlacedWriter.ASIDE + "/probe");
        for (int place = 0; place < hosts.size(); place++) {
            String name = "bucket-" + place + "-of-" + hosts.size() + "@" + hosts.get(place);
            Path path = new Path(aside, name);
            try (OutputStream out = files.create(path, true, BUFFER, (short) 1, files.getDefaultBlockSize(path))) {
                out.write('\n');
            }
            say.println("probe\t" + hosts.get(place) + "\t" + hosts(files.getFileStatus(path)));
        }
        files.delete(aside, true);
    }

    /** What is read as a file, which is there as a whole or not at all, with as many replicas as the layout at least. */
    void put(Path path, short replicas, InputStream in) throws IOException {
        Path partial = path.suffix(".partial");
        short copies = (short) Math.max(replicas, files.getDefaultReplication(path));
        try (OutputStream out = files.create(partial, true, BUFFER, copies, files.getDefaultBlockSize(path))) {
            in.transferTo(out);
        }
        files.delete(path, false);
        if (!files.rename(partial, path)) {
            throw new IOException(path + " cannot be written");
        }
    }

    /** The bytes of a file, or of a folder's files in the order of their names, as FileInputFormat takes them. */
    private void cat(Path path) throws IOException {
        FileStatus status = files.getFileStatus(path);
        FileStatus[] all = status.isFile() ? new FileStatus[] {status} : visible(path);
        for (FileStatus file : all) {
            try (InputStream in = files.open(file.getPath())) {
                IOUtils.copyBytes(in, say, BUFFER, false);
            }
        }
    }

    private FileStatus[] visible(Path folder) throws IOException {
        FileStatus[] all = files.listStatus(folder, path -> {
            String name = path.getName();
            return !name.startsWith("_") && !name.startsWith(".");
        });
        return Stream.of(all).filter(FileStatus::isFile).sorted().toArray(FileStatus[]::new);
    }

    /** The placed files of a folder: for each its name (UTF), its length (long) and its bytes. */
    private void read(Path folder) throws IOException {
        DataOutputStream out = new DataOutputStream(say);
        for (FileStatus file : visible(folder)) {
            if (PlacedFile.of(file.getPath().getName()).isPresent()) {
                out.writeUTF(file.getPath().getName());
                out.writeLong(file.getLen());
                try (InputStream in = files.open(file.getPath())) {
                    IOUtils.copyBytes(in, out, file.getLen(), false);
                }
            }
        }
        out.flush();
    }

    /** Keys with the buckets in which they stand: bucket and number of buckets (ints), length and bytes of the key. */
    private static void judge(DataInputStream in, Buckets buckets) throws IOException {
        while (true) {
            in.mark(1);
            if (in.read() < 0) {
                return;
            }
            in.reset();
            int bucket = in.readInt();
            int of = in.readInt();
            buckets.check(PlacedWriter.bytes(in), bucket, of);
        }
    }

    private DistributedFileSystem hdfs() throws IOException {
        if (files instanceof DistributedFileSystem) {
            return (DistributedFileSystem) files;
        }
        throw new IOException(files.getUri() + " is no HDFS: placement is a matter of its DataNodes");
    }

    private Map<String, InetSocketAddress> addresses() throws IOException {
        return Arrays.stream(hdfs().getDataNodeStats(DatanodeReportType.LIVE))
                .collect(Collectors.toMap(
                        DatanodeInfo::getHostName,
                        node -> InetSocketAddress.createUnresolved(node.getHostName(), node.getXferPort()),
                        (first, second) -> first,
                        HashMap::new));
    }
}
