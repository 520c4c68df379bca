import { ConflictError, ConnectionError, type Deployment, DeploymentFailedError, TimeoutError } from "@perch/sdk";
import { expect, test } from "vitest";
import { type DeployState, deployProgress } from "./deploy-progress.ts";

const url = "https://perch.example/v1/agents/agent_1/deployments";
const [created, asked] = [
  { method: "POST", url },
  { method: "GET", url: `${url}/dep_1` },
];
const variables = { environment: "production", version: "v3", trafficPercent: 100, isRedeployed: false };
const afterError = (error: Error): string =>
  deployProgress({ status: "error", variables, error } as DeployState, []) ?? "";

test.each([
  ["checks that failed", new DeploymentFailedError({ error: "The tool refuses." } as Deployment, asked)],
  ["a refusal", new ConflictError({ ...created, status: 409, code: "conflict", message: "There is a canary." })],
])("after %s, nothing was deployed", (_, error) => {
  expect(afterError(error)).toBe("v3 was not deployed to production.");
});

test.each([
  ["takes long", new TimeoutError({ ...asked, code: "timed_out", message: "Still pending after 300 s." })],
  ["is out of reach", new ConnectionError({ ...asked, code: "connection_failed", message: "No connection." })],
])("a deployment that was created goes on when its check %s", (_, error) => {
  expect(afterError(error)).toContain("v3 was still being checked for production");
});

test("the page does not claim that nothing was deployed if the server did not answer", () => {
  const error = new ConnectionError({ ...created, code: "connection_failed", message: "No connection." });
  expect(afterError(error)).toContain("The server has not confirmed whether it deploys v3 to production.");
});

test("the outcome shows the current state, and disappears when the deployment serves no requests", () => {
  const deployed = { id: "dep_1", status: "active", traffic_percent: 50 } as Deployment;
  const state = { status: "success", variables: { ...variables, trafficPercent: 50 }, data: deployed } as DeployState;
  const canary = "v3 is a canary in production with 50 % of the requests.";
  expect(deployProgress(state, [deployed])).toBe(canary);
  expect(deployProgress(state, [{ ...deployed, traffic_percent: 10 }])).toBe(canary.replace("50 %", "10 %"));
  expect(deployProgress(state, [{ ...deployed, traffic_percent: 100 }])).toBe("v3 is live in production.");
  expect(deployProgress(state, [{ ...deployed, id: "dep_2" }])).toBeUndefined();
});
