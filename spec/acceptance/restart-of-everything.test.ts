import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { createScratchDatabase } from "@perch/testkit/installation/scratch-database.ts";
import { freePort, runCommand, startServer } from "@perch/testkit/installation/server-process.ts";
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
  const database = await createScratchDatabase();
  const engine = await startRestate();
  await runCommand(database, ["migrate"]);
  const apiKey = await runCommand(database, ["create-organisation", "--name", "Acme", "--tier", "pro"]);
  const settings = {
    PERCH_RESTATE_INGRESS_URL: engine.ingressUrls.join(","),
    PERCH_RESTATE_ADMIN_URL: engine.adminUrls.join(","),
    PERCH_WORKER_PORT: String(await freePort()),
  };
  let server = await startServer(database, settings, "all");
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${server.url}/v1/agents${path}`, {
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

    server.child.kill("SIGKILL");
    await engine.nodes[0]?.kill();
    await engine.nodes[0]?.start();
    server = await startServer(database, settings, "all");

    expect(await invoke("one")).toEqual({ ...ended, replayed: "true" });
    const joined = await invoke("two");
    expect(joined).toMatchObject({
      status: 200,
      replayed: "true",
      body: { data: { response: "answer to two", request_id: started.body.data.request_id } },
    });
  } finally {
    await server.stop();
    await engine.stop();
    await database.drop();
  }
});
