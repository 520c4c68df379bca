import { expect, test } from "vitest";
import { etagOf, Perch } from "../src/index.ts";

/** A server with one agent, whose tag is `"one"`. */
function clientOfOneAgent() {
  const conditions: (string | null)[] = [];
  const fetch = async (_: unknown, init: RequestInit = {}) => {
    conditions.push(new Headers(init.headers).get("if-match"));
    const headers: Record<string, string> = init.method === "DELETE" ? {} : { etag: '"one"' };
    return Response.json({ success: true, data: { id: "agent_1", name: "bot" } }, { headers });
  };
  const perch = new Perch({ baseUrl: "http://perch.test", apiKey: "k", fetch: fetch as typeof globalThis.fetch });
  return { perch, conditions };
}

test("the result of a method has the tag of its response, and looks as before", async () => {
  const { perch } = clientOfOneAgent();
  const agent = await perch.agents.get("bot");
  expect(agent).toEqual({ id: "agent_1", name: "bot" });
  expect(etagOf(agent)).toBe('"one"');
  expect(etagOf({ ...agent })).toBeUndefined();
  expect(etagOf(await perch.agents.delete("bot"))).toBeUndefined();
});

test("ifMatch is sent with a change, and with nothing else", async () => {
  const { perch, conditions } = clientOfOneAgent();
  const agent = await perch.agents.get("bot");
  const ifMatch = etagOf(agent);
  await perch.agents.update("bot", { temperature: 0 }, {}, { ifMatch });
  await perch.agents.delete("bot", { ifMatch });
  await perch.agents.update("bot", { temperature: 1 });
  expect(conditions).toEqual([null, '"one"', '"one"', null]);
});
