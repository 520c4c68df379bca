import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { expectEqual, expectText } from "../expect.ts";
import { ensureModel } from "../order-model.ts";
import type { Task } from "../task.ts";

const key = "key-of-the-shop-4711";

const agentFile = (url: string): string => `name: shop
model: local/llama3.2
tools:
  - type: http
    name: lookup_order
    description: Finds an order.
    method: GET
    url: ${url}/orders/{id}
    headers:
      X-Api-Key: "{{secret.shop_key}}"
    parameters:
      type: object
      properties: { id: { type: string } }
      required: [id]
secrets:
  shop_key:
    hosts: ["${url}"]
`;

export const httpTool: Task = {
  number: 9,
  title: "an HTTP tool with a key from a secret",
  needs: [2],
  run: async (trial) => {
    const shop = await startToolServer(({ path, headers }) =>
      headers["x-api-key"] === key ? { body: { path, status: "packed" } } : { status: 401 },
    );
    trial.onEnd(shop.close);
    const cwd = join(trial.home, "shop");
    await ensureModel(trial);
    mkdirSync(cwd);
    writeFileSync(join(cwd, "agent.yaml"), agentFile(shop.url));
    writeFileSync(join(cwd, ".env"), `SHOP_KEY=${key}\n`);
    const applied = await trial.run(["perch", "apply", "--yes"], { cwd });
    const answer = await trial.run(["perch", "invoke", "shop", "Where is order 42?"], { cwd });
    expectText(answer, "packed");
    expectEqual(
      "calls of the tool",
      shop.calls.filter(({ method }) => method === "GET").map(({ path }) => path),
      ["/orders/42"],
    );
    const shown = await trial.run(["perch", "runs", "shop", "--json"], { cwd });
    if ([applied, answer, shown].some((text) => text.includes(key))) throw new Error("The key is in the output.");
    return "";
  },
};
