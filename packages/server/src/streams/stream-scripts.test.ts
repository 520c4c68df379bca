import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import type { Redis } from "iovalkey";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { connectValkey } from "../limits/valkey-gate.ts";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { appendScript, putScript, takeScript } from "./stream-scripts.ts";

type Call = (...args: (string | number)[]) => Promise<unknown>;
const valkey = connectValkey(serviceUrl("PERCH_VALKEY_URL"), 5000, createLogger("silent")) as Redis &
  Record<string, Call>;
valkey.defineCommand("take", { lua: takeScript, numberOfKeys: 2 });
valkey.defineCommand("put", { lua: putScript, numberOfKeys: 2 });
valkey.defineCommand("putCounted", { lua: putScript, numberOfKeys: 3 });
valkey.defineCommand("appendCounted", { lua: appendScript, numberOfKeys: 3 });
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

describe("the streams of an organisation", () => {
  const organisationLimit = 1000;

  async function newOrganisation() {
    const organisation = `perch:streams:${newUuid()}`;
    const key = `perch:stream:{${newUuid()}}`;
    const call = (name: string, ...args: (string | number)[]) =>
      valkey[name]?.(key, `${key}:owner`, organisation, 60_000, ...args, organisationLimit, "dropped");
    await valkey.hset(`${key}:owner`, { writer: "one", take: 1 });
    const [seconds] = await valkey.time();
    return {
      key,
      organisation,
      minute: Math.floor(Number(seconds) / 60),
      put: (text: string) => call("putCounted", "one", 1, 10_000, text),
      append: (payload: string, mustBeKept = "") => call("appendCounted", 10_000, payload, payload, mustBeKept, 0),
      events: async () => (await valkey.xrange(key, "-", "+")).map(([, fields]) => fields[1]),
    };
  }

  test("store as much as they may; beyond it, readers get one notice, and the end", async () => {
    const { put, append, events } = await newOrganisation();
    const text = "x".repeat(900);
    expect(await put(text)).toBe("put");
    expect(await put(text)).toBe("dropped");
    expect(await append("tool".repeat(20))).toBe("dropped");
    expect(await append("end", "always")).toBe("put");
    expect(await events()).toEqual([text, "dropped", "end"]);
  });

  test("count what has expired no longer", async () => {
    const { organisation, minute, put } = await newOrganisation();
    await valkey.hset(organisation, { [minute - 1]: organisationLimit });
    expect(await put("x")).toBe("put");
    expect(await valkey.hexists(organisation, String(minute - 1))).toBe(0);
  });

  test("count a stream that lives on once, in the minute in which it expires", async () => {
    const { key, organisation, put } = await newOrganisation();
    await put("x");
    const [[expires, bytes] = ["", ""]] = Object.entries(await valkey.hgetall(organisation));
    const earlier = String(Number(expires) - 1);
    await valkey.del(organisation);
    await valkey.hset(organisation, { [earlier]: bytes });
    await valkey.hset(`${key}:owner`, { until: earlier });
    await put("x");
    const counted = await valkey.hgetall(organisation);
    expect(
      Object.values(counted)
        .map(Number)
        .reduce((sum, each) => sum + each),
    ).toBe(2 * Number(bytes));
    expect(counted[earlier] ?? "0").toBe("0");
  });
});
