import { expect, test } from "vitest";
import { createMemoryReplayStore, verifyRequest } from "../src/index.ts";
import { publicKey, signRequest } from "./sign-request.ts";

const startMs = 4_102_444_800_000;
const directory = "https://perch.example";
const otherKey = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };

type Answer = () => Response | Promise<Response>;
const answerWith =
  (keys: readonly object[], headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(JSON.stringify({ keys }), { headers });

/** A directory of Perch whose answer can change, and the calls that a service verifies with it. */
function createService(first: Answer) {
  const state = { answer: first, asked: [] as string[], redirect: undefined as unknown };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    state.asked.push(String(input));
    state.redirect = init?.redirect;
    return state.answer();
  };
  let count = 0;
  const receive = (afterSeconds: number): Promise<string> => {
    const nowMs = startMs + afterSeconds * 1000;
    const call = { method: "GET", url: "https://tools.example.com/", body: "" };
    const nonce = `nonce-of-16-or-more-${count++}`;
    const headers = signRequest({ ...call, created: Math.floor(nowMs / 1000), nonce });
    const options = { origin: "https://tools.example.com", directory, replayStore: createMemoryReplayStore() };
    return verifyRequest({ ...call, headers }, { ...options, fetch, nowMs }).then(
      () => "passed",
      ({ reason, status }) => `${reason} ${status}`,
    );
  };
  return { state, receive };
}

test("keys are fetched from the well-known path once, and cached for as long as the answer allows", async () => {
  const { state, receive } = createService(answerWith([publicKey], { "cache-control": "public, max-age=300" }));
  for (const seconds of [0, 1, 299]) expect(await receive(seconds)).toBe("passed");
  expect(state.asked).toEqual(["https://perch.example/.well-known/http-message-signatures-directory"]);
  expect(state.redirect).toBe("manual");
  expect(await receive(300)).toBe("passed");
  expect(state.asked).toHaveLength(2);
});

test.each([
  ["max-age=600", "500", 100],
  ["no-store", undefined, 300],
  ["max-age=0", undefined, 60],
  ["max-age=99999999", undefined, 86_400],
])("Cache-Control: %s with Age: %s caches them for %i s", async (control, age, seconds) => {
  const headers = { "cache-control": control, ...(age && { age }) };
  const { state, receive } = createService(answerWith([publicKey], headers));
  await receive(0);
  await receive(seconds - 1);
  expect(state.asked).toHaveLength(1);
  await receive(seconds);
  expect(state.asked).toHaveLength(2);
});

test("many calls at once ask once", async () => {
  const { state, receive } = createService(answerWith([publicKey]));
  const together = await Promise.all(Array.from({ length: 20 }, () => receive(0)));
  expect(new Set(together)).toEqual(new Set(["passed"]));
  expect(state.asked).toHaveLength(1);
});

test("an unknown key makes it ask again, at most once a minute, and a new key is known then", async () => {
  const { state, receive } = createService(answerWith([otherKey], { "cache-control": "max-age=3600" }));
  for (const seconds of [0, 1, 59]) expect(await receive(seconds)).toBe("unknown_key 401");
  expect(state.asked).toHaveLength(1);
  state.answer = answerWith([otherKey, publicKey], { "cache-control": "max-age=3600" });
  expect(await receive(60)).toBe("passed");
  expect(state.asked).toHaveLength(2);
});

test("those who wait for a new key all get it", async () => {
  const { state, receive } = createService(answerWith([otherKey]));
  await receive(0);
  state.answer = answerWith([publicKey]);
  expect(await Promise.all([receive(60), receive(60), receive(61)])).toEqual(["passed", "passed", "passed"]);
  expect(state.asked).toHaveLength(2);
});

const failures: readonly (readonly [string, Answer])[] = [
  ["cannot be reached", () => Promise.reject(new Error("connection refused"))],
  ["answers 500", () => new Response("{}", { status: 500 })],
  ["redirects", () => new Response(null, { status: 302, headers: { location: "https://evil.example/" } })],
  ["answers in HTML", () => new Response("<p>hello</p>")],
  ["has no list", () => new Response("{}")],
  ["is huge", () => new Response(JSON.stringify({ keys: [publicKey], more: "x".repeat(300_000) }))],
];

test.each(failures)("a directory that %s refuses with 503, is asked again after 5 s, and heals", async (_, failure) => {
  const { state, receive } = createService(failure);
  for (const seconds of [0, 1, 4]) expect(await receive(seconds)).toBe("directory_unavailable 503");
  expect(state.asked).toHaveLength(1);
  state.answer = answerWith([publicKey]);
  expect(await receive(5)).toBe("passed");
});

test.each(failures)("known keys outlive a directory that %s by an hour, and no more", async (_, failure) => {
  const { state, receive } = createService(answerWith([publicKey], { "cache-control": "max-age=60" }));
  await receive(0);
  state.answer = failure;
  expect(await receive(60)).toBe("passed");
  expect(await receive(60 + 3599)).toBe("passed");
  expect(await receive(60 + 3600)).toBe("directory_unavailable 503");
});

test("a key that was taken off the list is refused with the next answer", async () => {
  const { state, receive } = createService(answerWith([publicKey], { "cache-control": "max-age=60" }));
  expect(await receive(0)).toBe("passed");
  state.answer = answerWith([otherKey]);
  expect(await receive(60)).toBe("unknown_key 401");
});

test("entries that are not Ed25519 keys are passed over", async () => {
  const strange = [null, "key", { kty: "RSA" }, { ...publicKey, x: `${publicKey.x}=` }, { ...publicKey, nbf: "now" }];
  const { receive } = createService(answerWith([...strange, publicKey] as object[]));
  expect(await receive(0)).toBe("passed");
});
