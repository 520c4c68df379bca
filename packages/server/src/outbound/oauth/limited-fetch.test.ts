import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { expect, onTestFinished, test } from "vitest";
import { createGuardedClient } from "../guarded-client.ts";
import { createLimitedFetch } from "./limited-fetch.ts";

test("an exchange ends when its limit is over, also without a signal of the caller", async () => {
  const server = await startToolServer(() => new Promise(() => undefined));
  onTestFinished(() => server.close());
  const { fetch } = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
  const { limitedFetch } = createLimitedFetch({ fetch, version: "1.2.3" });
  const started = Date.now();
  await expect(limitedFetch(server.url, { method: "GET", limitMs: 100 })).rejects.toMatchObject({
    name: "TimeoutError",
  });
  expect(Date.now() - started).toBeLessThan(3000);
});
