import java.io.BufferedWriter;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.gaul.shaded.org.eclipse.jetty.http.HttpFields;
import org.gaul.shaded.org.eclipse.jetty.http.HttpHeader;
import org.gaul.shaded.org.eclipse.jetty.io.Content;
import org.gaul.shaded.org.eclipse.jetty.server.Handler;
import org.gaul.shaded.org.eclipse.jetty.server.Request;
import org.gaul.shaded.org.eclipse.jetty.server.Response;
import org.gaul.shaded.org.eclipse.jetty.server.Server;
import org.gaul.shaded.org.eclipse.jetty.util.Callback;

/**
 * The object store of a testbed: S3Proxy over a folder, behind a handler that gives each request the scenario's latency,
 * rates and limits, and writes a line of it. Its settings are properties on standard input, so that credentials are in
 * no list of processes.
 */
public final class ObjectStore {
  /** The 99th percentile of the standard normal distribution. */
  private static final double P99 = 2.3263479;

  private static final String SLOW_DOWN =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code>"
          + "<Message>Please reduce your request rate.</Message></Error>";

  private ObjectStore() {}

  public static void main(String[] args) throws Exception {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    Properties set = new Properties();
    set.load(System.in);
    Path folder = Path.of(set.getProperty("folder"));
    Files.createDirectories(folder.resolve(set.getProperty("bucket")));
    S3Proxy proxy =
        S3Proxy.builder()
            .blobStore(new FilesystemNio2BlobStore(folder.toString()))
            .awsAuthentication(
                AuthenticationType.AWS_V2_OR_V4, set.getProperty("access"), set.getProperty("secret"))
            .endpoint(URI.create("http://" + set.getProperty("address")))
            .jettyMaxThreads(500)
            .build();
    // S3Proxy keeps its server to itself, and no setting of it puts a handler in front.
    var field = S3Proxy.class.getDeclaredField("server");
    field.setAccessible(true);
    ((Server) field.get(proxy)).insertHandler(new Service(set, folder));
    proxy.start();
    System.err.println("the store is ready");
  }

  /** What a request does, in the words of the scenario's results. */
  enum Kind {
    GET,
    HEAD,
    LIST,
    PUT,
    POST,
    COPY,
    DELETE,
    OTHER;

    boolean reads() {
      return this == GET || this == HEAD || this == LIST;
    }

    static Kind of(Request request) {
      String path = request.getHttpURI().getCanonicalPath();
      // A bucket has one element of a path: GET of it lists names, versions or uploads.
      boolean ofBucket = path.indexOf('/', 1) < 0 || path.indexOf('/', 1) == path.length() - 1;
      return switch (request.getMethod()) {
        case "GET" -> ofBucket ? LIST : GET;
        case "HEAD" -> HEAD;
        case "PUT" -> request.getHeaders().contains("x-amz-copy-source") ? COPY : PUT;
        case "POST" -> POST;
        case "DELETE" -> DELETE;
        default -> OTHER;
      };
    }
  }

  /** A token bucket: what is refused takes no tokens. */
  static final class Limit {
    private final double rate;
    private final double most;
    private double tokens;
    private long at = System.nanoTime();

    Limit(double rate, double windowS) {
      this.rate = rate;
      most = Math.max(rate * windowS, 1);
      tokens = most;
    }

    synchronized boolean take() {
      long now = System.nanoTime();
      tokens = Math.min(most, tokens + (now - at) * 1e-9 * rate);
      at = now;
      if (tokens < 1) {
        return false;
      }
      tokens -= 1;
      return true;
    }
  }

  /** The handler in front. */
  static final class Service extends Handler.Wrapper {
    private final Path folder;
    private final double medianS;
    private final double sigma;
    /** Bytes per second. */
    private final double connectionRate;
    private final double copyRate;
    private final Limit[] reads;
    private final Limit[] writes;
    private final Random random;
    private final BufferedWriter log;

    Service(Properties set, Path folder) throws IOException {
      this.folder = folder;
      medianS = number(set, "latency-s");
      double p99 = number(set, "latency-p99-s");
      sigma = medianS > 0 && p99 > medianS ? Math.log(p99 / medianS) / P99 : 0;
      connectionRate = number(set, "connection-rate");
      copyRate = number(set, "copy-rate");
      int prefixes = (int) number(set, "prefixes");
      reads = new Limit[prefixes];
      writes = new Limit[prefixes];
      for (int i = 0; i < prefixes; i++) {
        reads[i] = new Limit(number(set, "read-limit"), number(set, "limit-window-s"));
        writes[i] = new Limit(number(set, "write-limit"), number(set, "limit-window-s"));
      }
      random = new Random((long) number(set, "seed"));
      log = Files.newBufferedWriter(Path.of(set.getProperty("log")));
    }

    private static double number(Properties set, String name) {
      return Double.parseDouble(set.getProperty(name));
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
      Kind kind = Kind.of(request);
      String path = request.getHttpURI().getCanonicalPath();
      int prefix = Math.floorMod(path.hashCode(), reads.length);
      Exchange exchange = new Exchange(kind, path, request, drawn(), copied(kind, request));
      Callback logged = Callback.from(callback, () -> write(exchange, response));
      if (!(kind.reads() ? reads : writes)[prefix].take()) {
        response.setStatus(503);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/xml");
        Content.Sink.write(response, true, SLOW_DOWN, logged);
        return true;
      }
      return super.handle(exchange.paced(request), exchange.paced(request, response), logged);
    }

    private synchronized double drawn() {
      return medianS * Math.exp(sigma * random.nextGaussian());
    }

    /** Bytes that the store is to copy. */
    private long copied(Kind kind, Request request) {
      if (kind != Kind.COPY) {
        return 0;
      }
      HttpFields fields = request.getHeaders();
      String range = fields.get("x-amz-copy-source-range");
      if (range != null) {
        String[] ends = range.substring(range.indexOf('=') + 1).split("-");
        return Long.parseLong(ends[1]) - Long.parseLong(ends[0]) + 1;
      }
      String source = URLDecoder.decode(fields.get("x-amz-copy-source"), StandardCharsets.UTF_8);
      try {
        Path file = folder.resolve(source.replaceFirst("^/", "")).normalize();
        return file.startsWith(folder) ? Files.size(file) : 0;
      } catch (IOException absent) {
        // S3Proxy says so.
        return 0;
      }
    }

    private void write(Exchange of, Response response) {
      String referrer = of.referrer == null ? "" : of.referrer;
      String line =
          String.join(
              "\t",
              String.valueOf(System.currentTimeMillis()),
              of.kind.name().toLowerCase(),
              String.valueOf(response.getStatus()),
              String.valueOf(of.in),
              String.valueOf(of.out),
              String.valueOf(of.copied),
              String.valueOf(of.ownNs / 1000),
              String.valueOf(of.waitedNs / 1000),
              of.client,
              parameter(referrer, "op"),
              parameter(referrer, "ta"),
              of.path);
      synchronized (log) {
        try {
          log.write(line);
          log.newLine();
          log.flush();
        } catch (IOException full) {
          System.err.println("the log of requests cannot be written: " + full);
        }
      }
    }

    /** A parameter of the referrer by which S3A tells what a request is for. */
    private static String parameter(String referrer, String name) {
      int at = Math.max(referrer.indexOf("?" + name + "="), referrer.indexOf("&" + name + "="));
      if (at < 0) {
        return "";
      }
      int from = at + name.length() + 2;
      int to = referrer.indexOf('&', from);
      return referrer.substring(from, to < 0 ? referrer.length() : to);
    }

    /** A request and its answer. */
    private final class Exchange {
      final Kind kind;
      final String path;
      final String client;
      final String referrer;
      final double latencyS;
      final long copied;
      /** The last byte of the request. */
      volatile long asked = System.nanoTime();
      volatile long in;
      volatile long out;
      volatile long ownNs;
      volatile long waitedNs;
      private final AtomicBoolean begun = new AtomicBoolean();
      private long body;
      private long answer;

      Exchange(Kind kind, String path, Request request, double latencyS, long copied) {
        this.kind = kind;
        this.path = path;
        this.latencyS = latencyS;
        this.copied = copied;
        client = Request.getRemoteAddr(request);
        referrer = request.getHeaders().get(HttpHeader.REFERER);
      }

      /** The request, whose body comes no faster than a connection carries. */
      Request paced(Request request) {
        return new Request.Wrapper(request) {
          @Override
          public Content.Chunk read() {
            Content.Chunk chunk = super.read();
            if (chunk != null && chunk.remaining() > 0) {
              body = in == 0 ? System.nanoTime() : body;
              in += chunk.remaining();
              sleepUntil(body, in / connectionRate);
            }
            if (chunk != null) {
              asked = System.nanoTime();
            }
            return chunk;
          }
        };
      }

      /** The answer, whose first byte takes the latency, and the others what a connection carries. */
      Response paced(Request request, Response response) {
        return new Response.Wrapper(request, response) {
          @Override
          public void write(boolean last, ByteBuffer bytes, Callback callback) {
            if (begun.compareAndSet(false, true)) {
              long now = System.nanoTime();
              ownNs = now - asked;
              sleepUntil(asked, latencyS + copied / copyRate);
              answer = System.nanoTime();
              waitedNs = answer - now;
            }
            if (bytes != null) {
              out += bytes.remaining();
              sleepUntil(answer, out / connectionRate);
            }
            super.write(last, bytes, callback);
          }
        };
      }
    }

    private static void sleepUntil(long from, double afterS) {
      long rest = from + (long) (afterS * 1e9) - System.nanoTime();
      if (rest > 0) {
        try {
          Thread.sleep(rest / 1_000_000, (int) (rest % 1_000_000));
        } catch (InterruptedException stopped) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }
}
