import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { expect, onTestFinished, test } from "vitest";
import { createEngineCheck } from "./engine-status.ts";

/** An admin port that answers at once, and needs long to count its invocations. */
async function startBusyEngine(countMs: number) {
  const counted = { questions: 0, open: 0, maxOpen: 0 };
  const answers: Readonly<Record<string, object>> = {
    "/health": {},
    "/services": { services: [] },
    "/deployments": { deployments: [{ id: "dp_1", created_at: "2026-01-31T12:00:00Z" }] },
  };
  const server = createServer(({ url = "" }, response) => {
    if (url !== "/query")
      return void response.writeHead(answers[url] ? 200 : 500).end(JSON.stringify(answers[url] ?? {}));
    counted.questions += 1;
    counted.open += 1;
    counted.maxOpen = Math.max(counted.maxOpen, counted.open);
    setTimeout(() => {
      counted.open -= 1;
      response.end(JSON.stringify({ rows: [{ id: "dp_1", runs: 7, status: "running", invocations: 9 }] }));
    }, countMs);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counted };
}

const placeOf = (address: string) => new URL(address).host;

test("an engine that takes longer to count than the answer waits is asked one question at a time, and its count is shown when it ends", async () => {
  verifies("installation.bounded");
  const { url, counted } = await startBusyEngine(1500);
  const check = createEngineCheck({ ingressUrls: [], adminUrls: [url], placeOf });
  const startedMs = performance.now();
  const first = await check();
  expect(performance.now() - startedMs).toBeLessThan(2500);
  expect(first).toMatchObject({ deployments: undefined, invocations: null });
  expect(first.parts.map(({ name, status }) => `${name} ${status}`)).toEqual(["engine_admin ok", "workers unknown"]);
  expect(first.parts[1]?.message).toBe("the engine did not say whether it reaches them: it answers 500");
  await expect.poll(async () => (await check()).invocations?.running).toBe(9);
  expect((await check()).deployments).toMatchObject([{ id: "dp_1", runs: 7 }]);
  expect(counted).toEqual({ questions: 2, open: 0, maxOpen: 1 });
});

test("workers are unknown, and not without an address, while the admin port is silent", async () => {
  verifies("installation.silent-parts");
  const check = createEngineCheck({ ingressUrls: [], adminUrls: [`http://127.0.0.1:${await freePort()}`], placeOf });
  expect((await check()).parts.map(({ status }) => status)).toEqual(["silent", "unknown"]);
});
