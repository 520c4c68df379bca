import { expect, test } from "vitest";
import { startInstallation } from "./installation.ts";

test("two API nodes, two workers and three engine nodes answer, and a node that ended comes back", async () => {
  const installation = await startInstallation({ apis: 2, workers: 2, engineNodes: 3 });
  try {
    const { urls, apis, workers, engine } = installation;
    expect([urls.length, apis.length, workers.length, engine.nodes.length]).toEqual([2, 2, 2, 3]);
    const headers = {
      authorization: `Bearer ${await installation.createOrganisation("Acme")}`,
      "content-type": "application/json",
    };
    const post = (url: string, body: object) => fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    expect((await post(`${installation.url}/v1/agents`, { name: "bot", model: "perch/echo" })).status).toBe(201);
    const invokeAtEach = () =>
      Promise.all(urls.map((url) => post(`${url}/v1/agents/bot/invoke`, { message: "hello" })));
    expect((await invokeAtEach()).map(({ status }) => status)).toEqual([200, 200]);
    await apis[1]?.stop();
    await workers[0]?.end("SIGTERM");
    await installation.startApi(1);
    expect((await invokeAtEach()).map(({ status }) => status)).toEqual([200, 200]);
  } finally {
    await installation.stop();
  }
});
