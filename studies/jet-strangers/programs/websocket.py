"""WebSocket messages by the library `websockets`: a text message with a length, answered by that many bytes.

serve HOST PORT, or ask HOST PORT CONNECTIONS SIZE SECONDS: each connection asks again when it has its answer.
The output is a latency in microseconds per line, then the seconds that it all took.
"""

import asyncio
import sys
import time

import websockets

PERIOD = bytes(range(251))


def payload(size):
    return (PERIOD * (size // len(PERIOD) + 1))[:size]


async def answer(socket, *_path):
    async for message in socket:
        await socket.send(payload(int(message)))


async def serve(host, port):
    # Compressed, these messages would be of a few bytes.
    async with websockets.serve(answer, host, port, compression=None):
        await asyncio.Future()


async def ask(host, port, size, until, latencies):
    expected = payload(size)
    async with websockets.connect(
        f"ws://{host}:{port}", compression=None, max_size=None, ping_interval=None, open_timeout=30
    ) as socket:
        while time.monotonic() < until:
            start = time.monotonic()
            await socket.send(str(size))
            if await socket.recv() != expected:
                sys.exit("an answer differs")
            latencies.append(time.monotonic() - start)


async def ask_all(host, port, connections, size, seconds):
    start, latencies = time.monotonic(), []
    await asyncio.gather(*(ask(host, port, size, start + seconds, latencies) for _ in range(connections)))
    took = time.monotonic() - start
    print(*(round(latency * 1e6) for latency in latencies), sep="\n")
    print("seconds", took)


what, host, port, *rest = sys.argv[1:]
asyncio.run(serve(host, int(port)) if what == "serve" else ask_all(host, int(port), *map(int, rest)))
