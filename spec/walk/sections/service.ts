import { answers, array, eventually, holds, isA, refuses, single, text } from "../expectations.ts";
import { sendRequest } from "../http-client.ts";
import { onOwnServer, type Section, statement } from "../statement.ts";
import { agent, deploy, newAgent, newKey, newName, run } from "../world.ts";
import { everyOperation, specifiedOperations } from "./operations.ts";

export const service: Section = {
  title: "What the service does",
  statements: [
    onOwnServer("service.json-over-https", "a REST API (JSON over HTTPS)", async (world) => {
      const { tlsUrl, authority } = world.own();
      const headers = { authorization: `Bearer ${world.key}` };
      const answer = await sendRequest("GET", `${tlsUrl}/v1/agents`, { headers, tls: { ca: authority.cert } });
      isA(answers(answer, 200).data, array, "data");
    }),
    statement("service.invoke", "invoke an agent with a message", async (world) => {
      const { answer } = await run(world);
      isA(answer.body.data.response, text, "response");
    }),
    statement("service.agents", "list, read, update and delete agents", async (world) => {
      const { id, path } = await newAgent(world);
      const listed = answers(await world.call("GET", "/v1/agents?limit=100"), 200).data;
      holds(
        listed.some((item: { id: string }) => item.id === id),
        "the agent is not listed",
      );
      single(await world.call("GET", path), 200);
      single(await world.call("PATCH", path, { body: { temperature: 0.5 } }), 200);
      single(await world.call("DELETE", path), 200);
      refuses(await world.call("GET", path), 404, "not_found");
    }),
    statement("service.deployments", "create, list and roll back deployments of an agent", async (world) => {
      const made = await newAgent(world);
      const first = await deploy(world, made, "v1");
      await world.call("PATCH", made.path, { body: { temperature: 0.5 } });
      await deploy(world, made, "v2");
      const back = await world.call("POST", `${made.path}/deployments/${first.id}/rollback`);
      holds(single(back, 201).version === "v1", `the rollback deployed ${back.text}`);
      await eventually(async () => {
        const { data } = answers(await world.call("GET", `${made.path}/deployments?status=active`), 200);
        return data.length === 1 && data[0].version === "v1" ? true : undefined;
      }, "v1 is live again");
    }),
    statement("service.logs-and-metrics", "read logs and metrics of an agent", async (world) => {
      const { path } = await agent(world);
      isA(answers(await world.call("GET", `${path}/logs`), 200).data, array, "logs");
      isA(single(await world.call("GET", `${path}/metrics?metric=throughput`), 200).values, array, "metrics");
    }),
    statement("service.memory", "search and clear an agent's memory", async (world) => {
      const { path } = await newAgent(world);
      single(await world.call("POST", `${path}/memory`, { body: { content: "Ada likes tea" } }), 201);
      const search = () => world.call("POST", `${path}/memory/search`, { body: { query: "tea" } });
      holds(answers(await search(), 200).data[0]?.content === "Ada likes tea", "the memory is not found");
      single(await world.call("DELETE", `${path}/memory`), 200);
      holds(answers(await search(), 200).data.length === 0, "the memory is still there");
    }),
    statement("service.webhooks", "register and remove webhooks that receive events", async (world) => {
      const body = { url: "https://hooks.example.com/walk", events: ["agent.completed"] };
      const { id } = single(await world.call("POST", "/v1/webhooks", { body }), 201);
      single(await world.call("DELETE", `/v1/webhooks/${id}`), 200);
      refuses(await world.call("DELETE", `/v1/webhooks/${id}`), 404, "not_found");
      const listed = answers(await world.call("GET", "/v1/webhooks?limit=100"), 200).data;
      holds(!listed.some((item: { id: string }) => item.id === id), "the webhook is still listed");
    }),
    statement("service.keys", "create, list and revoke API keys", async (world) => {
      const { id, key } = await newKey(world, { permissions: ["read"] });
      answers(await world.call("GET", "/v1/agents", { key }), 200);
      const listed = answers(await world.call("GET", "/v1/keys?limit=100"), 200).data;
      holds(
        listed.some((item: { id: string }) => item.id === id),
        "the key is not listed",
      );
      single(await world.call("DELETE", `/v1/keys/${id}`), 200);
      refuses(await world.call("GET", "/v1/agents", { key }), 401, "unauthorized");
    }),
    statement("service.paths", "every path is relative to the base address and carries /v1", async (world) => {
      for (const { operation, answer } of await everyOperation(world)) {
        holds(operation.path.startsWith("/v1/"), `${operation.path} has no version`);
        holds(answer.status < 300, `${operation.name} answered ${answer.status}`);
      }
      holds(specifiedOperations.length === 18, "18 operations");
    }),
    statement("service.json-requests", "request bodies are JSON", async (world) => {
      const rawBody = `name=${newName()}`;
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      refuses(await world.call("POST", "/v1/agents", { rawBody, headers }), 400, "invalid_request");
      refuses(await world.call("POST", "/v1/agents", { rawBody: "{" }), 400, "invalid_request");
    }),
    statement("service.json-responses", "response bodies are JSON", async (world) => {
      const seen = (await everyOperation(world)).map(({ answer }) => answer);
      seen.push(await world.call("GET", "/v1/agents/nobody-of-this-name"));
      seen.push(await world.call("GET", "/v1/agents", { key: null }));
      for (const { headers, body, text: sent } of seen) {
        holds(/^application\/json\b/.test(headers["content-type"] ?? ""), `content-type ${headers["content-type"]}`);
        holds(body !== undefined, `no JSON: ${sent.slice(0, 100)}`);
      }
    }),
  ],
};
