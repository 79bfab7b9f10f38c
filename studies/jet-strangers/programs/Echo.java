import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * Java NIO: one selector, and non-blocking channels that read and write as far as they can. A request is a length of
 * four bytes, its answer that many bytes.
 *
 * <p>serve HOST PORT, or ask HOST PORT CONNECTIONS SIZE SECONDS: each connection asks again when it has its answer. The
 * output is a latency in microseconds per line, then the seconds that it all took.
 */
public final class Echo {
    private static byte[] payload(int size) {
        byte[] data = new byte[size];
        for (int index = 0; index < size; index++) {
            data[index] = (byte) (index % 251);
        }
        return data;
    }

    /** The server's state of a connection: the request it reads, or the answer it writes. */
    private static final class Answering {
        final ByteBuffer request = ByteBuffer.allocate(4);
        ByteBuffer answer = ByteBuffer.allocateDirect(0);

        /** Whether the connection goes on. */
        boolean advance(SelectionKey key) throws IOException {
            SocketChannel channel = (SocketChannel) key.channel();
            while (true) {
                channel.write(answer);
                if (answer.hasRemaining()) {
                    key.interestOps(SelectionKey.OP_WRITE);
                    return true;
                }
                if (channel.read(request) < 0) {
                    return false;
                }
                if (request.hasRemaining()) {
                    key.interestOps(SelectionKey.OP_READ);
                    return true;
                }
                int size = request.flip().getInt();
                request.clear();
                if (size != answer.capacity()) {
                    answer = ByteBuffer.allocateDirect(size).put(payload(size));
                }
                answer.rewind();
            }
        }
    }

    private static void serve(InetSocketAddress address) throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel listener = ServerSocketChannel.open().bind(address);
        listener.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        while (true) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    SocketChannel channel = listener.accept();
                    if (channel != null) {
                        channel.configureBlocking(false);
                        channel.register(selector, SelectionKey.OP_READ, new Answering());
                    }
                    continue;
                }
                boolean goesOn = false;
                try {
                    goesOn = ((Answering) key.attachment()).advance(key);
                } catch (IOException reset) {
                    // The client has left.
                }
                if (!goesOn) {
                    key.channel().close();
                }
            }
            selector.selectedKeys().clear();
        }
    }

    /** The client's state of a connection. */
    private static final class Asking {
        final ByteBuffer request = ByteBuffer.allocate(4);
        final ByteBuffer answer;
        long asked;

        Asking(int size) {
            answer = ByteBuffer.allocate(size);
            request.putInt(size);
        }

        void ask(SelectionKey key) throws IOException {
            request.rewind();
            answer.clear();
            asked = System.nanoTime();
            write(key);
        }

        void write(SelectionKey key) throws IOException {
            ((SocketChannel) key.channel()).write(request);
            key.interestOps(request.hasRemaining() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }
    }

    private static void ask(InetSocketAddress address, int connections, int size, int seconds) throws IOException {
        Selector selector = Selector.open();
        for (int index = 0; index < connections; index++) {
            SocketChannel channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_CONNECT, new Asking(size));
            channel.connect(address);
        }
        byte[] expected = payload(size);
        List<Long> latencies = new ArrayList<>();
        long start = System.nanoTime();
        int open = connections;
        while (open > 0) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                SocketChannel channel = (SocketChannel) key.channel();
                Asking asking = (Asking) key.attachment();
                if (key.isConnectable()) {
                    channel.finishConnect();
                    asking.ask(key);
                } else if (key.isWritable()) {
                    asking.write(key);
                } else if (key.isReadable()) {
                    if (channel.read(asking.answer) < 0) {
                        throw new IOException("the server has closed a connection");
                    }
                    if (asking.answer.hasRemaining()) {
                        continue;
                    }
                    long now = System.nanoTime();
                    latencies.add((now - asking.asked) / 1000);
                    if (!java.util.Arrays.equals(asking.answer.array(), expected)) {
                        throw new IOException("an answer differs");
                    }
                    if (now - start < seconds * 1_000_000_000L) {
                        asking.ask(key);
                    } else {
                        channel.close();
                        open--;
                    }
                }
            }
            selector.selectedKeys().clear();
        }
        double took = (System.nanoTime() - start) / 1e9;
        PrintStream out = new PrintStream(new java.io.BufferedOutputStream(System.out, 1 << 16), false);
        latencies.forEach(out::println);
        out.println("seconds " + took);
        out.flush();
    }

    public static void main(String[] arguments) throws IOException {
        InetSocketAddress address = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
        if (arguments[0].equals("serve")) {
            serve(address);
        } else {
            ask(address, Integer.parseInt(arguments[3]), Integer.parseInt(arguments[4]),
                Integer.parseInt(arguments[5]));
        }
    }
}
