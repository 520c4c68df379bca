import { startInstallation } from "@perch/testkit/installation/installation.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { expect, test } from "vitest";

const slow = JSON.stringify({
  steps: [
    { tool_calls: [{ name: "perch_echo", arguments: {} }], tokens: 1 },
    { delay_ms: 1500, reply: "answer to {message}" },
  ],
});

test("a run outlives the death of every process, and its key gets one answer before and after", async () => {
  verifies("invocation.background");
  const perch = await startInstallation();
  const apiKey = await perch.createOrganisation("Acme");
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${perch.url}/v1/agents${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return {
      status: response.status,
      body: (await response.json()) as { data: Record<string, string> },
      replayed: response.headers.get("idempotent-replayed"),
    };
  };
  const invoke = (message: string) => post("/bot/invoke", { message }, { "idempotency-key": message });
  try {
    await post("", { name: "bot", model: "perch/script", instructions: slow });
    const ended = await invoke("one");
    expect(ended).toMatchObject({ status: 200, body: { data: { response: "answer to one" } }, replayed: null });
    const started = await post(
      "/bot/invoke",
      { message: "two" },
      { "idempotency-key": "two", prefer: "respond-async" },
    );
    expect(started.status).toBe(202);

    perch.apis[0]?.child.kill("SIGKILL");
    await perch.engine.nodes[0]?.kill();
    await perch.engine.nodes[0]?.start();
    await perch.startApi();

    expect(await invoke("one")).toEqual({ ...ended, replayed: "true" });
    const joined = await invoke("two");
    expect(joined).toMatchObject({
      status: 200,
      replayed: "true",
      body: { data: { response: "answer to two", request_id: started.body.data.request_id } },
    });
  } finally {
    await perch.stop();
  }
});
