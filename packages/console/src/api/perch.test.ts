import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { askForCode, currentCodeRequest } from "./second-factor.ts";

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
const needsCode = () =>
  json(401, { error: { code: "unauthorized", message: "This needs a second factor: send a code in X-MFA-Code." } });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("location", { origin: "https://perch.example" });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a user who takes minutes to find a code is asked once, and the change is made once", async () => {
  const codes: (string | null)[] = [];
  vi.stubGlobal("fetch", (_: unknown, init: RequestInit) => {
    const code = new Headers(init.headers).get("x-mfa-code");
    codes.push(code);
    return Promise.resolve(code === null ? needsCode() : json(200, { data: { id: "agent_1" } }));
  });
  const { perch } = await import("./perch.ts");
  const deleted = perch.agents.delete("guarded");
  await vi.advanceTimersByTimeAsync(1000);
  const asked = currentCodeRequest();
  expect(asked).toBeDefined();
  await vi.advanceTimersByTimeAsync(10 * 60_000);
  expect(currentCodeRequest()).toBe(asked);
  asked?.answer("123456");
  await expect(deleted).resolves.toEqual({ id: "agent_1" });
  expect(codes).toEqual([null, "123456"]);
});

const aborted = (signal: AbortSignal | null | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener("abort", reject));

test.each([
  ["answers", aborted],
  [
    "finishes its answer",
    async (signal: AbortSignal | null | undefined) => new Response(new ReadableStream({ pull: () => aborted(signal) })),
  ],
])("a server that never %s is given up after a minute", async (_, answer) => {
  vi.stubGlobal("fetch", (_input: unknown, { signal }: RequestInit) => answer(signal));
  const { perch } = await import("./perch.ts");
  const failed = expect(perch.me({ maxRetries: 0 })).rejects.toMatchObject({ code: "timed_out" });
  await vi.advanceTimersByTimeAsync(61_000);
  await failed;
});

test("a request that ends after its code was entered does not close the next request's code dialog", async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const code = askForCode(undefined, first.signal);
  const next = askForCode(undefined, second.signal);
  await vi.advanceTimersByTimeAsync(0);
  const question = currentCodeRequest();
  question?.answer("1");
  expect(await code).toBe("1");
  await vi.advanceTimersByTimeAsync(0);
  const shown = currentCodeRequest();
  expect(shown).toBeDefined();
  first.abort();
  question?.answer("again");
  expect(currentCodeRequest()).toBe(shown);
  shown?.answer("2");
  expect(await next).toBe("2");
});
