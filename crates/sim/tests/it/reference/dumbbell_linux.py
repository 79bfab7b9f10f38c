"""dumbbell_linux.py CONTROL FLOWS MBIT RTT_MS SECONDS WARM SEED [each]: a row of dumbbell_linux.csv, by Linux itself.

Long flows as in dumbbell_long.csv, but real ones: `trunkline testbed link` emulates the bottleneck, with a drop-tail
queue of one bandwidth-delay product; sockets, segments and acknowledgements are the kernel's. Receivers delay
acknowledgements, or with `each` acknowledge each segment (the route's quickack); segments carry timestamps. Needs root,
and the program's path in TRUNKLINE. Prints a row; drops are the emulator's less the probe's own, the queue is what the
probe's datagrams wait on their way there, in full frames. One that was dropped met a full queue, and counts as that.
"""

import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

PORT = 5201
FRAME = 1514  # bytes of a full frame; the path's rate counts them


def receive(control, flows, length, warm):
    """The far end: bytes that arrived after the warm-up, and how long each datagram of the probe was under way."""
    listener = socket.create_server(("", PORT), backlog=flows)
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    probe.bind(("", PORT))
    print("ready", flush=True)
    begin = float(sys.stdin.readline())
    poll = select.poll()
    by_number = {s.fileno(): s for s in (listener, probe)}
    for number in by_number:
        poll.register(number, select.POLLIN)
    counted, waits, probes = {}, [], 0
    while (now := time.monotonic()) < begin + length:
        for number, _ in poll.poll(50):
            if number == probe.fileno():
                sent = struct.unpack("d", probe.recv(64))[0]
                probes += 1
                if sent >= begin + warm:
                    waits.append(time.monotonic() - sent)
            elif number == listener.fileno():
                connection, _ = listener.accept()
                by_number[connection.fileno()] = connection
                counted[connection.fileno()] = 0
                poll.register(connection.fileno(), select.POLLIN)
            else:
                got = len(by_number[number].recv(1 << 18))
                if now >= begin + warm:
                    counted[number] += got
    print(json.dumps({"bytes": list(counted.values()), "waits": waits, "probes": probes}), flush=True)


def send(control, flows, length, warm, seed, acks):
    """The near end: endless flows from up to 100 ms after the begin, and twenty datagrams a second."""
    far = os.environ["TRUNKLINE_FAR"]
    inside = ["nsenter", f"--net={os.environ['TRUNKLINE_FAR_NAMESPACE']}", sys.executable, __file__]
    if acks == "each":
        route = ["198.18.0.0/24", "dev", "path", "quickack", "1"]
        subprocess.run([*inside[:2], "ip", "route", "change", *route], check=True)
    arguments = [control, str(flows), str(length), str(warm)]
    receiver = subprocess.Popen(
        [*inside, "receive", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    receiver.stdout.readline()
    begin = time.monotonic() + 0.2
    receiver.stdin.write(f"{begin}\n")
    receiver.stdin.flush()
    draw = random.Random(seed)

    def flow(start):
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        time.sleep(max(0.0, start - time.monotonic()))
        connection.connect((far, PORT))
        connection.settimeout(1.0)
        block = bytes(1 << 16)
        while time.monotonic() < begin + length:
            try:
                connection.send(block)
            except TimeoutError:
                pass
            except OSError:
                return

    for _ in range(flows):
        threading.Thread(target=flow, args=(begin + draw.uniform(0, 0.1),), daemon=True).start()
    probe, sent, sent_warm = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0, 0
    while (now := time.monotonic()) < begin + length - 0.2:
        probe.sendto(struct.pack("d", now), (far, PORT))
        sent += 1
        sent_warm += now >= begin + warm
        time.sleep(draw.uniform(0.02, 0.08))
    got = json.loads(receiver.stdout.read())
    lost = {"lost": sent - got["probes"], "lost_warm": sent_warm - len(got["waits"])}
    print(json.dumps({**got, **lost}), flush=True)
    os._exit(0)


def main():
    control, flows, mbit, rtt, length, warm, seed = sys.argv[1:8]
    acks = "each" if sys.argv[8:] == ["each"] else "delayed"
    limit = int(int(mbit) * 1e6 * float(rtt) * 1e-3 / 12_000)
    with tempfile.NamedTemporaryFile() as report:
        queues = f"{limit} packets,10000 packets"
        path = ["--rate", f"{mbit}Mbit/s", "--delay", f"{float(rtt) / 2}ms", "--queue", queues]
        command = [os.environ.get("TRUNKLINE", "trunkline"), "testbed", "link", "run", *path, "--report", report.name]
        inner = [sys.executable, os.path.abspath(__file__), "send", control, flows, length, warm, seed, acks]
        out = subprocess.run([*command, "--", *inner], check=True, stdout=subprocess.PIPE, text=True)
        emulated = json.load(open(report.name))
    got = json.loads(out.stdout)
    span = float(length) - float(warm)
    goodput = sum(got["bytes"]) * 8e-6 / span
    least, waits = float(rtt) * 0.5e-3, got["waits"]
    waited = sum(max(0.0, wait - least) for wait in waits) * float(mbit) * 1e6 / 8 / FRAME
    queue = (waited + got["lost_warm"] * limit) / (len(waits) + got["lost_warm"])
    squares = sum(b * b for b in got["bytes"])
    fair = sum(got["bytes"]) ** 2 / (len(got["bytes"]) * squares)
    forth = emulated["paths"][0]["forth"]
    drops, late = forth["frames"]["dropped"] - got["lost"], forth["lateness"]["late"] / forth["lateness"]["count"]
    row = f"linux,{control},{flows},{mbit},{rtt},0,{length},0,{seed},{goodput:.4f},{queue:.3f},{drops},"
    print(row + f",{acks},{fair:.3f},{late:.6f}")


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
    elif sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6]), sys.argv[7])
    else:
        main()
