import type { Redis } from "iovalkey";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { connectValkey } from "../limits/valkey-gate.ts";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { putScript, takeScript } from "./stream-scripts.ts";

type Call = (...args: (string | number)[]) => Promise<unknown>;
const valkey = connectValkey(serviceUrl("PERCH_VALKEY_URL"), createLogger("silent")) as Redis & Record<string, Call>;
valkey.defineCommand("take", { lua: takeScript, numberOfKeys: 2 });
valkey.defineCommand("put", { lua: putScript, numberOfKeys: 2 });
beforeAll(() => vi.waitUntil(() => valkey.status === "ready", { timeout: 10_000 }));
afterAll(() => valkey.disconnect());

function newStream() {
  const key = `perch:stream:{${newUuid()}}`;
  const call = (name: string, ...args: (string | number)[]) => valkey[name]?.(key, `${key}:owner`, 60_000, ...args);
  return {
    take: async (writer: string, at: number, take: number, step = 1) =>
      (await call("take", writer, at, take, step)) !== null,
    put: (writer: string, take: number) => call("put", writer, take, 10_000, `[1,0,"${writer}"]`),
    readBack: async (step: number) => (await call("take", `reader ${step}`, 9e12, 1, step)) as unknown[],
    forget: () => valkey.del(key, `${key}:owner`),
  };
}

describe("the owner of a stream", () => {
  test("is the attempt that began last, whatever the clocks show", async () => {
    const { take, put } = newStream();
    expect(await take("old", 2000, 1)).toBe(true);
    expect(await take("new", 1000, 1)).toBe(true);
    expect(await put("old", 1)).toBe("taken");
    expect(await put("new", 1)).toBe("put");
  });

  test("is not an earlier attempt that lost it and tries again", async () => {
    const { take, put } = newStream();
    await take("old", 1000, 1);
    await take("new", 2000, 1);
    expect(await take("old", 1000, 2)).toBe(false);
    expect(await put("new", 1)).toBe("put");
  });

  test("is a newer attempt whose first call was lost, when it tries again", async () => {
    const { take, put } = newStream();
    await take("old", 1000, 1);
    expect(await take("new", 2000, 2)).toBe(true);
    expect(await put("old", 1)).toBe("taken");
  });

  test("does not change by a late call: neither an older take nor a put under it", async () => {
    const { take, put } = newStream();
    await take("one", 1000, 3);
    expect(await take("one", 1000, 2)).toBe(false);
    expect(await put("one", 2)).toBe("taken");
    expect(await put("one", 3)).toBe("put");
  });

  test("is unknown after Valkey lost its data, until the stream is taken again", async () => {
    const { take, put, forget } = newStream();
    await take("one", 1000, 1);
    await put("one", 1);
    await forget();
    expect(await put("one", 1)).toBe("lost");
    expect(await take("one", 1000, 2)).toBe(true);
    expect(await put("one", 2)).toBe("put");
  });

  test("reads back its own step, not the whole run", async () => {
    const { take, put, readBack } = newStream();
    await take("one", 1000, 1);
    await put("one", 1);
    expect(await readBack(1)).toHaveLength(1);
    expect(await readBack(2)).toHaveLength(0);
  });

  test("is never an attempt of an earlier step", async () => {
    const { take, put } = newStream();
    await take("two", 1000, 1, 2);
    expect(await take("one", 2000, 1, 1)).toBe(false);
    expect(await put("two", 1)).toBe("put");
    expect(await take("ten", 1, 1, 10)).toBe(true);
  });
});
