"""Python asyncio streams. A request is a length of four bytes, its answer that many bytes.

serve HOST PORT, or ask HOST PORT CONNECTIONS SIZE SECONDS: each connection asks again when it has its answer.
The output is a latency in microseconds per line, then the seconds that it all took.
"""

import asyncio
import sys
import time

PERIOD = bytes(range(251))


def payload(size):
    return (PERIOD * (size // len(PERIOD) + 1))[:size]


async def answer(reader, writer):
    size, data = 0, b""
    try:
        while True:
            wanted = int.from_bytes(await reader.readexactly(4), "big")
            if wanted != size:
                size, data = wanted, payload(wanted)
            writer.write(data)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve(host, port):
    server = await asyncio.start_server(answer, host, port)
    await server.serve_forever()


async def ask(host, port, size, until, latencies):
    reader, writer = await asyncio.open_connection(host, port)
    expected, request = payload(size), size.to_bytes(4, "big")
    while time.monotonic() < until:
        start = time.monotonic()
        writer.write(request)
        if await reader.readexactly(size) != expected:
            sys.exit("an answer differs")
        latencies.append(time.monotonic() - start)
    writer.close()


async def ask_all(host, port, connections, size, seconds):
    start, latencies = time.monotonic(), []
    await asyncio.gather(*(ask(host, port, size, start + seconds, latencies) for _ in range(connections)))
    took = time.monotonic() - start
    print(*(round(latency * 1e6) for latency in latencies), sep="\n")
    print("seconds", took)


what, host, port, *rest = sys.argv[1:]
asyncio.run(serve(host, int(port)) if what == "serve" else ask_all(host, int(port), *map(int, rest)))
