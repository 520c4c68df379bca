import { setTimeout as sleep } from "node:timers/promises";
import { fastify } from "fastify";

/** A minimal Fastify server: a route that sends fixed bytes, one that takes 200 ms, and a tool. Prints its address. */
const bytes = process.env.BARE_BODY ?? "{}";
const app = fastify({ logger: false });
app.get("/v1/agents/:agent_id", async (_, reply) => reply.type("application/json; charset=utf-8").send(bytes));
app.post("/slow", async () => {
  await sleep(200);
  return { success: true, data: { response: "done" } };
});
app.post("/tool", async () => ({ ok: true }));
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
process.once("SIGTERM", () => void app.close());
