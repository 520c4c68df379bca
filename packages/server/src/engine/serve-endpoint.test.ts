import { once } from "node:events";
import { connect } from "node:http2";
import { afterEach, expect, test } from "vitest";
import { createLogger } from "../platform/logger.ts";
import type { RunSteps } from "../runs/execute/run-steps.ts";
import { runServices } from "../workflows/run-agent.ts";
import { type Endpoint, serveEndpoint } from "./serve-endpoint.ts";

const steps: RunSteps = {
  begin: () => Promise.reject(new Error("not called")),
  recall: () => Promise.reject(new Error("not called")),
  model: () => Promise.reject(new Error("not called")),
  tools: () => Promise.reject(new Error("not called")),
  tool: () => Promise.reject(new Error("not called")),
  record: () => Promise.reject(new Error("not called")),
};

let endpoint: Endpoint | undefined;
afterEach(() => endpoint?.close());

/** The status of an unauthenticated request for the list of workflows. */
async function discover(identityKeys: readonly string[]): Promise<number> {
  endpoint = await serveEndpoint({
    services: [
      ...runServices({
        steps,
        findDefinition: () => Promise.reject(new Error("not called")),
        defaultLogs: "shapes",
      }),
    ],
    identityKeys,
    host: "127.0.0.1",
    port: 0,
    logger: createLogger("silent"),
  });
  const client = connect(`http://127.0.0.1:${endpoint.port}`);
  const request = client.request({ ":path": "/discover", accept: "application/vnd.restate.endpointmanifest.v4+json" });
  const [headers] = (await once(request, "response")) as [{ ":status": number }];
  // A response that is not read keeps the connection open.
  await once(request.resume(), "close");
  client.close();
  return headers[":status"];
}

test("a worker without an identity key answers unsigned requests", async () => {
  expect(await discover([])).toBe(200);
});

test("a worker with an identity key refuses unsigned requests", async () => {
  expect(await discover(["publickeyv1_2G8dCQhArfvGpzPw5Vx2ALciR4xCLHfS5YaT93XjNxX9"])).toBe(401);
});
