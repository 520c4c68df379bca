import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach, expect, test } from "vitest";
import { listen } from "./listen.ts";

const apps: FastifyInstance[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

async function start({ port = 0, delayMs = 0 } = {}) {
  const app = fastify({ forceCloseConnections: "idle", keepAliveTimeout: 72_000 });
  apps.push(app);
  app.get("/", async (_, reply) => {
    await sleep(delayMs);
    return reply.header("connection", "close").send("served");
  });
  return { app, url: await listen(app, "127.0.0.1", port) };
}

const connectOften = (port: number, count: number): string =>
  `for (let i = 0; i < ${count}; i++) require("node:net").connect(${port}, "127.0.0.1").on("error", () => undefined);`;

test.skipIf(process.platform !== "linux")(
  "a busy process accepts many connections in one turn",
  async () => {
    const { app, url } = await start();
    let accepted = 0;
    app.server.on("connection", () => accepted++);
    const child = spawn(process.execPath, ["-e", connectOften(Number(new URL(url).port), 200)]);
    let turns = 0;
    const deadline = performance.now() + 20_000;
    while (accepted < 200 && performance.now() < deadline) {
      const endMs = performance.now() + 20;
      while (performance.now() < endMs);
      if (accepted > 0) turns++;
      await nextTurn();
    }
    child.kill();
    expect(accepted).toBe(200);
    // One a turn would need 200 of them.
    expect(turns).toBeLessThan(100);
  },
  30_000,
);

test("a port that is in use is refused, by whomever it is used", async () => {
  const { url } = await start();
  await expect(start({ port: Number(new URL(url).port) })).rejects.toThrow("EADDRINUSE");
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as { port: number };
  await expect(start({ port })).rejects.toThrow("EADDRINUSE");
  other.close();
});

test("closing serves the requests that are under way, at whichever socket, and ends idle connections", async () => {
  const { app, url } = await start({ delayMs: 300 });
  const answers = Array.from({ length: 40 }, () => fetch(url).then((response) => response.text()));
  await sleep(150);
  const closed = app.close();
  expect(await Promise.all(answers)).toEqual(Array(40).fill("served"));
  await closed;
  await expect(fetch(url)).rejects.toThrow();
});
