// Node's HTTP: GET /SIZE is answered by that many bytes, over a new connection for each request.
//
// serve HOST PORT, or ask HOST PORT CONNECTIONS SIZE SECONDS: so many requests at a time.
// The output is a latency in microseconds per line, then the seconds that it all took.

"use strict";
const http = require("node:http");

const PERIOD = Buffer.from(Array.from({ length: 251 }, (_, index) => index));
const payload = (size) => Buffer.alloc(size, PERIOD);

function serve(host, port) {
  http.createServer((request, response) => response.end(payload(Number(request.url.slice(1))))).listen(port, host);
}

function get(host, port, size) {
  return new Promise((resolve, reject) => {
    const asked = http.get({ host, port, path: `/${size}`, agent: false }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("end", () => resolve(Buffer.concat(parts)));
      response.on("error", reject);
    });
    asked.on("error", reject);
  });
}

async function ask(host, port, connections, size, seconds) {
  const expected = payload(size);
  const latencies = [];
  const start = performance.now();
  const one = async () => {
    while (performance.now() - start < seconds * 1e3) {
      const asked = performance.now();
      const got = await get(host, port, size);
      latencies.push(performance.now() - asked);
      if (!got.equals(expected)) throw new Error("an answer differs");
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  const took = (performance.now() - start) / 1e3;
  console.log([...latencies.map((ms) => Math.round(ms * 1e3)), `seconds ${took}`].join("\n"));
}

const [what, host, ...rest] = process.argv.slice(2);
(what === "serve" ? serve : ask)(host, ...rest.map(Number));
