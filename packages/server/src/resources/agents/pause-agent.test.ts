import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();
const bot = { agent_id: "bot" };

describe.each([
  ["POST /v1/agents/{agent_id}/pause", "paused"],
  ["POST /v1/agents/{agent_id}/resume", "running"],
] as const)("%s", (operation, status) => {
  test(`makes the agent ${status}, once or twice`, async () => {
    verifies("agent.pause-and-resume", "agent.status-others");
    const { call } = await perch().createOrganisation();
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    if (status === "running") ok(await call("POST /v1/agents/{agent_id}/pause", { params: bot }));
    const answer = await call(operation, { params: bot });
    expect(answer.status).toBe(200);
    const first = ok(answer).data;
    expect(first.status).toBe(status);
    expect(ok(await call(operation, { params: bot })).data).toEqual(first);
    expect(ok(await call("GET /v1/agents/{agent_id}", { params: bot })).data).toEqual(first);
    expect(ok(await call("GET /v1/agents", { query: {} })).data[0]?.status).toBe(status);
  });

  test("404 for an unknown agent, 400 for a body", async () => {
    const { call } = await perch().createOrganisation();
    expect(expectError(await call(operation, { params: { agent_id: "nobody" } })).status).toBe(404);
    const error = expectError(
      await call(operation, { params: { agent_id: "nobody" }, body: { force: true } } as never),
    );
    expect(error).toMatchObject({ status: 400, details: [{ field: "force" }] });
  });
});
