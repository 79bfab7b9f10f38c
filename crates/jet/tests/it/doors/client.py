"""What programs do with connect(2), under the preloaded library. Arguments: the HTTP and echo server's IPv4 and IPv6 addresses."""

import asyncio
import errno
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

V4, V6 = sys.argv[1:3]
ECHO = 7
UNREACHABLE = ("198.51.100.9", 80)
SILENT = ("198.51.100.10", 80)


def exchange(sock, message=b"hello"):
    """The echo server sends back what it gets; its end of the connection is never this host's own."""
    sock.sendall(message)
    sock.shutdown(socket.SHUT_WR)
    back = b""
    while piece := sock.recv(65536):
        back += piece
    assert back == message, (back, message)


def fresh(family=socket.AF_INET):
    return socket.socket(family, socket.SOCK_STREAM)


def error_of(act):
    try:
        act()
    except OSError as error:
        return error.errno
    return 0


def blocking():
    for family, address in [(socket.AF_INET, V4), (socket.AF_INET6, V6), (socket.AF_INET6, "::ffff:" + V4)]:
        with fresh(family) as sock:
            sock.connect((address, ECHO))
            # The kernel's peer is the door.
            assert sock.getpeername()[0].removeprefix("::ffff:") in ("127.0.0.1", "::1"), sock.getpeername()
            exchange(sock)
    with fresh(socket.AF_INET6) as sock:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.connect((V6, ECHO))
        exchange(sock)


def errors():
    with fresh() as sock:
        assert error_of(lambda: sock.connect((V4, 9))) == errno.ECONNREFUSED
        # As after any failure the socket can be used again.
        assert error_of(lambda: sock.connect(UNREACHABLE)) == errno.EHOSTUNREACH
        sock.connect((V4, ECHO))
        assert error_of(lambda: sock.connect((V4, ECHO))) == errno.EISCONN
        exchange(sock)
    assert error_of(lambda: fresh().connect(("203.0.113.1", 80))) == errno.ENETUNREACH
    with fresh() as sock:
        sock.listen()
        assert error_of(lambda: sock.connect((V4, ECHO))) == errno.EISCONN


def non_blocking():
    with fresh() as sock:
        sock.setblocking(False)
        assert sock.connect_ex((V4, ECHO)) == errno.EINPROGRESS
        poll = select.poll()
        poll.register(sock, select.POLLOUT)
        assert poll.poll(10_000) == [(sock.fileno(), select.POLLOUT)]
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        assert sock.connect_ex((V4, ECHO)) in (0, errno.EISCONN), "a second call asks how it went"
        sock.setblocking(True)
        exchange(sock)
    with fresh() as sock:
        sock.setblocking(False)
        assert sock.connect_ex((V4, 9)) == errno.EINPROGRESS
        sock.setblocking(True)
        assert error_of(lambda: (time.sleep(0.2), sock.recv(1))) == errno.ECONNRESET, "all that can be said then"

    async def one():
        reader, writer = await asyncio.open_connection(V4, ECHO)
        writer.write(b"hello")
        writer.write_eof()
        assert await reader.read() == b"hello"
        writer.close()

    async def all_at_once():
        await asyncio.gather(*(one() for _ in range(100)))

    asyncio.run(all_at_once())


def threads():
    failed = []

    def work(number):
        try:
            for _ in range(5):
                with fresh() as sock:
                    sock.connect((V4, ECHO))
                    exchange(sock, b"%d " % number * 1000)
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(40)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed, failed


def fork_and_exec():
    sock = fresh()
    sock.connect((V4, ECHO))
    copy = sock.dup()
    sock.close()
    child = os.fork()
    if child == 0:
        exchange(copy)
        with fresh() as own:
            own.connect((V4, ECHO))
            exchange(own)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    page = subprocess.run(["curl", "-sS", "--max-time", "20", f"http://{V4}/"], check=True, capture_output=True, close_fds=True)
    assert len(page.stdout) == 3_000_000, len(page.stdout)


def own_choices():
    """What a program has set on its socket beforehand holds."""
    with fresh() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("", 0))
        port = sock.getsockname()[1]
        sock.connect((V4, ECHO))
        assert sock.getsockname()[1] == port
        exchange(sock)
    with fresh() as sock:
        sock.bind((V4, 0))
        sock.connect((V4, ECHO))
        assert sock.getsockname()[0] == V4
        exchange(sock)
    with fresh() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 200_000))
        began = time.monotonic()
        assert error_of(lambda: sock.connect(SILENT)) == errno.EINPROGRESS, "as connect(2) has it"
        assert 0.15 < time.monotonic() - began < 5
    with fresh() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, 30, 1)  # TCP_FASTOPEN_CONNECT
        sock.connect((V4, ECHO))
        exchange(sock)


def interrupted():
    """A signal whose handler raises ends a connect that waits."""

    class Interrupt(Exception):
        pass

    def raise_it(*_):
        raise Interrupt

    signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        fresh().connect(SILENT)
    except Interrupt:
        return
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    raise AssertionError("it has connected to nobody")


def left_alone():
    """Loopback, other protocols, the gateway's exceptions."""
    with fresh() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with fresh() as sock:
            sock.connect(server.getsockname())
            assert sock.getpeername() == server.getsockname()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect((V4, ECHO))
        assert sock.getpeername() == (V4, ECHO)
    with fresh() as sock:
        sock.connect(("192.0.2.77", ECHO))
        assert sock.getpeername() == ("192.0.2.77", ECHO), "excluded"
        exchange(sock)
    with fresh() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        sock.connect((V4, ECHO))
        assert sock.getpeername() == (V4, ECHO), "bound to an interface"


for part in (blocking, errors, non_blocking, threads, fork_and_exec, own_choices, interrupted, left_alone):
    part()
    print(part.__name__, "ok", flush=True)
