import { describe, expect, test } from "vitest";
import {
  createMemoryReplayStore,
  RequestVerificationError,
  type VerificationJwk,
  verifyRequest,
} from "../src/index.ts";
import type { RequestCase } from "./request-case.ts";
import { requestCases } from "./request-cases.ts";

const cases = requestCases();

const optionsOf = ({ origin, organisation, now, keys }: RequestCase) => ({
  origin,
  ...(organisation && { organisation }),
  keys: keys as VerificationJwk[],
  replayStore: createMemoryReplayStore(),
  nowMs: now * 1000,
});

/** Null if it passes, or why it does not. */
async function judge(subject: RequestCase): Promise<string | null> {
  const options = optionsOf(subject);
  try {
    if (subject.repeated) await verifyRequest(subject.request, options);
    await verifyRequest(subject.request, options);
    return null;
  } catch (error) {
    if (error instanceof RequestVerificationError) return error.reason;
    throw error;
  }
}

describe("a request", () => {
  test("has more than a hundred cases", () => {
    expect(cases.length).toBeGreaterThan(100);
  });

  test.each(cases.filter(({ reason }) => reason === null))("$title passes", async (subject) => {
    expect(await judge(subject)).toBe(null);
  });

  test.each(cases.filter(({ reason }) => reason !== null))("$title is refused: $reason", async (subject) => {
    expect(await judge(subject)).toBe(subject.reason);
  });
});

/** One character added, removed or changed, somewhere in the method, the address, the body or a header of Perch's. */
function mutate({ request, ...rest }: RequestCase, random: (below: number) => number): RequestCase {
  const change = (text: string): string => {
    const at = random(text.length + 1);
    const inserted = random(3) === 0 ? "" : String.fromCharCode(0x20 + random(0x5f));
    return text.slice(0, at) + inserted + text.slice(at + random(2));
  };
  const covered = ["content-digest", "x-request-id", "perch-organisation", "perch-agent", "signature-agent"];
  covered.push("signature-input", "signature");
  const field = random(10);
  const name = covered[field];
  const headers = request.headers.map(([key, value]) => [key, key === name ? change(value) : value] as const);
  return {
    ...rest,
    request: {
      headers,
      method: field === 7 ? change(request.method) : request.method,
      url: field === 8 ? `/${change(request.url.slice(1))}` : request.url,
      body: field === 9 ? change(request.body) : request.body,
    },
  };
}

/** Space in a header means nothing, so a request that differs only in that is the same. */
const meaningOf = ({ request: { method, url, body, headers } }: RequestCase): string =>
  JSON.stringify([method, url, body, headers.map(([name, value]) => [name, value.replaceAll(" ", "")])]);

/** The same numbers every time (mulberry32), so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

describe("10,000 random changes to a request", () => {
  test("are all refused", async () => {
    const [intact] = cases;
    if (!intact) throw new Error("There are no cases");
    const random = createRandom(9421);
    const passed: unknown[] = [];
    const reasons = new Map<string, number>();
    for (let count = 0; count < 10_000; ) {
      let changed = mutate(intact, random);
      if (random(4) === 0) changed = mutate(changed, random);
      if (meaningOf(changed) === meaningOf(intact)) continue;
      count++;
      const reason = await judge(changed);
      if (reason === null) passed.push(changed.request);
      else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    expect(passed).toEqual([]);
    // They reach every check, not only the first.
    expect(reasons.size).toBeGreaterThan(8);
    expect(reasons.get("signature_mismatch")).toBeGreaterThan(1000);
  });
});

describe("verifyRequest", () => {
  const [{ request } = expect.unreachable("there are no cases")] = cases;
  const options = () => optionsOf(cases[0] ?? expect.unreachable());

  test("returns the run, the agent and the organisation of the call, which key signed it, and when", async () => {
    expect(await verifyRequest(request, options())).toEqual({
      runId: "req_01m7evf01ne8nv228qpt0msbq9",
      organisationId: "org_01m7evf00ae8nv228b2d9gj1xw",
      agentId: "agent_01m7evf009e8nv2284kww951qd",
      keyId: "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
      createdAt: new Date("2100-01-01T00:00:00Z"),
    });
  });

  test("takes headers as Headers, as a record, as Node's lists, and bodies as bytes", async () => {
    const record = Object.fromEntries(request.headers);
    const lists = Object.fromEntries(request.headers.map(([name, value]) => [name, [value]]));
    const body = new TextEncoder().encode(request.body);
    for (const headers of [new Headers(record), record, lists, new Map(request.headers)])
      for (const one of [body, body.buffer, Buffer.from(body)])
        expect(await verifyRequest({ ...request, headers, body: one }, options())).toMatchObject({
          createdAt: expect.any(Date),
        });
  });

  test("reads a header that a record has under two spellings as twice there", async () => {
    const headers = { ...Object.fromEntries(request.headers), Signature: "perch=:AAAA:" };
    await expect(verifyRequest({ ...request, headers }, options())).rejects.toMatchObject({ reason: "malformed" });
  });

  test("throws a TypeError if it is used wrongly", async () => {
    const wrong = [
      { ...options(), origin: "tools.example.com" },
      { ...options(), origin: "https://tools.example.com/weather" },
      { ...options(), replayStore: undefined as never },
      // The value of a missing setting, which must not allow every caller.
      { ...options(), organisation: undefined as never },
      { ...options(), organisation: "" },
      { ...options(), organisation: [] },
      { ...options(), organisation: ["org_01m7evf00ae8nv228b2d9gj1xw", ""] },
      { ...options(), organisation: "org_01m7evf00ae8nv228b2d9gj1xw,org_01m7evf00be8nv2290e6zkb9p3" },
      { ...options(), keys: undefined },
      { ...options(), directory: "https://perch.example" },
      { ...options(), keys: undefined, directory: "http://perch.example" },
      { ...options(), keys: undefined, directory: "https://perch.example/v1" },
    ];
    for (const one of wrong) await expect(verifyRequest(request, one)).rejects.toBeInstanceOf(TypeError);
    const parsed = { ...request, body: JSON.parse(request.body) };
    await expect(verifyRequest(parsed, options())).rejects.toThrow("raw body");
  });

  test("refuses a nonce that a shared store has seen, and passes on the store's own failure", async () => {
    const seen = { ...options(), replayStore: { add: async () => false } };
    await expect(verifyRequest(request, seen)).rejects.toMatchObject({ reason: "replayed", status: 401 });
    const away = { ...options(), replayStore: { add: () => Promise.reject(new Error("Redis is away")) } };
    await expect(verifyRequest(request, away)).rejects.toThrow("Redis is away");
  });

  test("asks the store last, so that only Perch can fill it", async () => {
    const asked: unknown[] = [];
    const replayStore = { add: (...args: unknown[]) => asked.push(args) > 0 };
    for (const { title, reason, ...subject } of cases.filter(({ reason }) => reason !== null && reason !== "replayed"))
      await expect(
        verifyRequest(subject.request, { ...optionsOf({ title, reason, ...subject }), replayStore }),
      ).rejects.toMatchObject({ reason });
    expect(asked).toEqual([]);
    await verifyRequest(request, { ...options(), replayStore });
    // Half a minute longer than the signature, because clocks differ.
    expect(asked).toEqual([["cbBo1uvRIkZ0NQ7VzLXWz5Q0JzEwX6v2xY9nN3kq0aE", new Date("2100-01-01T00:05:30Z")]]);
  });
});

describe("the memory replay store", () => {
  const later = () => new Date(Date.now() + 60_000);

  test("takes a nonce once until it expires, and again after that", () => {
    const store = createMemoryReplayStore();
    expect([store.add("a", later()), store.add("a", later()), store.add("b", later())]).toEqual([true, false, true]);
    const past = createMemoryReplayStore();
    expect([past.add("a", new Date(0)), past.add("a", later())]).toEqual([true, true]);
  });

  test("throws when it is full, instead of forgetting nonces", () => {
    const store = createMemoryReplayStore({ max: 2 });
    expect([store.add("a", new Date(0)), store.add("b", later()), store.add("c", later())]).toEqual([true, true, true]);
    expect(() => store.add("d", later())).toThrow("full with 2 requests");
    expect(store.add("b", later())).toBe(false);
  });
});
