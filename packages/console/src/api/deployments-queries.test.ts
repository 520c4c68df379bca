import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => void vi.stubGlobal("location", { origin: "https://perch.example" }));
afterEach(() => void vi.unstubAllGlobals());

test("deployments made before a range are read with it, because they can be promoted or end within it", async () => {
  vi.stubGlobal("fetch", (url: string | URL) => {
    const isBefore = new URL(url).searchParams.get("start_time") === null;
    const body = { data: [{ id: isBefore ? "dep_before" : "dep_within" }], pagination: { next_cursor: null } };
    const headers = { "content-type": "application/json" };
    return Promise.resolve(new Response(JSON.stringify(body), { headers }));
  });
  const { deploymentsAroundQuery } = await import("./deployments-queries.ts");
  const query = deploymentsAroundQuery({ agent: "support", environment: undefined, range: "1h" });
  const found = await new QueryClient().fetchQuery(query);
  expect(found.map(({ id }) => id)).toEqual(["dep_within", "dep_before"]);
});
