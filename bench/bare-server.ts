import { fastify } from "fastify";

/** The least a Fastify server can do: one route that sends the bytes it was given. Prints its address. */
const bytes = process.env.BARE_BODY ?? "{}";
const app = fastify({ logger: false });
app.get("/v1/agents/:agent_id", async (_, reply) => reply.type("application/json; charset=utf-8").send(bytes));
console.log(await app.listen({ host: "127.0.0.1", port: 0 }));
process.once("SIGTERM", () => void app.close());
