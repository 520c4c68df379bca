import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";

afterEach(() => vi.unstubAllGlobals());

test("data of one organisation is discarded when the session is in another, and other tabs are notified", async () => {
  const told: unknown[] = [];
  let organisation = "org_a";
  vi.stubGlobal("location", { origin: "https://perch.example" });
  vi.stubGlobal(
    "BroadcastChannel",
    class {
      postMessage = (message: unknown) => void told.push(message);
    },
  );
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ data: { organisation: { id: organisation } } })));
  const { meQuery } = await import("./session.ts");
  const client = new QueryClient();
  const askAgain = () => client.fetchQuery({ ...meQuery, staleTime: 0 });
  const keys = () =>
    client
      .getQueryCache()
      .getAll()
      .map(({ queryKey }) => queryKey[0]);
  await askAgain();
  client.setQueryData(["versions", "support"], "of A");
  await askAgain();
  expect(keys()).toEqual(["me", "versions"]);
  organisation = "org_b";
  await askAgain();
  expect(keys()).toEqual(["me"]);
  expect(told).toEqual(["org_a", "org_b"]);
});
