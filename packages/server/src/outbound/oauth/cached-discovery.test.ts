import { expect, test } from "vitest";
import { OutboundBusyError } from "../outbound-share.ts";
import { createDiscoveryCache } from "./cached-discovery.ts";

const createFailing = (error: Error) => {
  let asked = 0;
  const discover = async () => {
    asked += 1;
    throw new Error("failed", { cause: error });
  };
  const cache = createDiscoveryCache({ discover, toFailure: () => new Error("unavailable"), now: () => 1_000_000 });
  return { cache, asked: () => asked };
};

test("a server that failed is not asked again for a moment", async () => {
  const { cache } = createFailing(new Error("ECONNREFUSED"));
  await expect(cache.discover("https://as.example")).rejects.toThrow("unavailable");
  expect(() => cache.findKnown("https://as.example")).toThrow("unavailable");
});

test("an organisation that has too many calls under way keeps no other from asking", async () => {
  const { cache, asked } = createFailing(new OutboundBusyError("too many"));
  await expect(cache.discover("https://as.example")).rejects.toThrow("unavailable");
  expect(cache.findKnown("https://as.example")).toBeUndefined();
  await expect(cache.discover("https://as.example")).rejects.toThrow("unavailable");
  expect(asked()).toBe(2);
});

test("a caller that joins one with too many calls under way asks itself", async () => {
  const first = Promise.withResolvers<never>();
  const found = { issuer: "https://as.example" };
  const asked: Promise<typeof found>[] = [first.promise, Promise.resolve(found)];
  const cache = createDiscoveryCache({
    discover: async () => (await asked.shift()) ?? Promise.reject(new Error("asked too often")),
    toFailure: () => new Error("unavailable"),
    now: () => 1_000_000,
  });
  const [busy, joined, alsoJoined] = [1, 2, 3].map(() => cache.discover("https://as.example"));
  first.reject(new OutboundBusyError("too many"));
  await expect(busy).rejects.toThrow("unavailable");
  await expect(joined).resolves.toBe(found);
  await expect(alsoJoined).resolves.toBe(found);
});
