import { expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { usePerch } from "../support/harness.ts";

const perch = usePerch({ scriptModel: false });

test("where the operator turned perch/script off, no list has it, and an agent with it does not run", async () => {
  const { call } = await perch().createOrganisation("free");
  const models = ok(await call("GET /v1/models", { query: {} })).data.map(({ id }) => id);
  expect(models).toContain("perch/echo");
  expect(models).not.toContain("perch/script");
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/script" } }));
  const { problems } = ok(await call("POST /v1/agents/{agent_id}/check", { params: { agent_id: "bot" } })).data;
  expect(problems.map(({ message }) => message).join()).toContain(
    "There is no model perch/script here. Use one of perch/echo",
  );
});
