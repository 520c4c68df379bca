import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createError } from "../src/create-error.ts";
import { Perch, PerchError } from "../src/index.ts";
import { retryDelayMs } from "../src/retry-rules.ts";

interface Expected {
  readonly class: string;
  readonly status: number;
  readonly code: string;
  readonly details: readonly object[];
  readonly correlation_id: string | null;
  readonly run_id: string | null;
  readonly retryable: boolean | null;
  readonly retry_after_seconds: number | null;
}
interface Cases {
  readonly default_max_retries: number;
  readonly responses: readonly {
    readonly title: string;
    readonly response: { readonly status: number; readonly headers: Record<string, string>; readonly body: unknown };
    readonly error: Expected;
    /** Part of the message. */
    readonly says?: string;
    readonly is_retried: boolean;
  }[];
  readonly no_response: readonly { readonly title: string; readonly class: string; readonly code: string }[];
  readonly waits: readonly {
    readonly failures: number;
    readonly retry_after_seconds: number | null;
    readonly min_ms: number;
    readonly max_ms: number;
  }[];
  readonly idempotency_keys: { readonly with: readonly string[]; readonly without: readonly string[] };
}

/** The Python SDK's tests read the same cases. */
const cases = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../spec/sdk-cases/failures.json"), "utf8"),
) as Cases;

// Without its random part, a wait is as long as the server asks for.
beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0));
afterEach(() => vi.restoreAllMocks());

/** A client whose requests all get this answer, and the requests. */
function clientWith(answer: (signal: AbortSignal | null | undefined) => Promise<Response>, options = {}) {
  const sent: RequestInit[] = [];
  const fetch = (_: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push(init);
    return answer(init.signal);
  };
  return { perch: new Perch({ baseUrl: "https://perch.example", apiKey: "k", fetch, ...options }), sent };
}

const thrownBy = async (work: PromiseLike<unknown>): Promise<PerchError> => {
  const error = await Promise.resolve(work).catch((thrown: unknown) => thrown);
  if (!(error instanceof PerchError)) throw error;
  return error;
};

describe("a failure is the same error, and is retried as often, as in the other SDK:", () => {
  test.each(cases.responses)("$title", async ({ response, error, says = "", is_retried }) => {
    const body = typeof response.body === "string" ? response.body : JSON.stringify(response.body);
    const { perch, sent } = clientWith(() => Promise.resolve(new Response(body, response)), { maxRetries: 1 });
    const thrown = await thrownBy(perch.agents.invoke("bot", { message: "hello" }));
    const { name, status, code, details, correlationId, runId, retryable, retryAfterSeconds, method, url } = thrown;
    expect({ name, status, code, details, correlationId, runId, retryable, retryAfterSeconds }).toEqual({
      name: error.class,
      status: error.status,
      code: error.code,
      details: error.details,
      correlationId: error.correlation_id ?? undefined,
      runId: error.run_id ?? undefined,
      retryable: error.retryable ?? undefined,
      retryAfterSeconds: error.retry_after_seconds ?? undefined,
    });
    expect({ method, url }).toEqual({ method: "POST", url: "https://perch.example/v1/agents/bot/invoke" });
    expect(thrown.message).toContain(says);
    expect(sent).toHaveLength(is_retried ? 2 : 1);
    expect(thrown.idempotencyKey).toBe(new Headers(sent[0]?.headers).get("idempotency-key"));
  });

  test("no response", async () => {
    const [broken, late] = cases.no_response;
    const refusing = clientWith(() => Promise.reject(new TypeError("fetch failed")), { maxRetries: 1 });
    expect(await thrownBy(refusing.perch.me())).toMatchObject({ name: broken?.class, code: broken?.code });
    expect(refusing.sent).toHaveLength(2);
    const silent = clientWith(() => new Promise(() => undefined), { maxRetries: 1, timeoutSeconds: 0.01 });
    expect(await thrownBy(silent.perch.me())).toMatchObject({ name: late?.class, code: late?.code });
    expect(silent.sent).toHaveLength(2);
  });
});

test("no error contains a key, not even one that the server repeats in its details", async () => {
  const key = `perch_${"0".repeat(46)}`;
  const details = [{ field: "agent_id", error: `${key} is no name.` }];
  const body = { error: { code: "not_found", message: `There is no agent ${key}`, details } };
  const { perch } = clientWith(() => Promise.resolve(Response.json(body, { status: 404 })));
  const error = await thrownBy(perch.agents.get(key));
  expect(error.details).toEqual([{ field: "agent_id", error: "perch_*** is no name." }]);
  expect(inspect(error)).not.toContain(key);
});

test.each(cases.waits)(
  "after $failures retries, with $retry_after_seconds s asked for, it waits $min_ms to $max_ms ms",
  (wait) => {
    const retryAfterSeconds = wait.retry_after_seconds ?? undefined;
    const error = createError({ status: 503, code: "unavailable", message: "", retryAfterSeconds });
    expect(retryDelayMs(error, wait.failures, 0)).toBe(wait.min_ms);
    expect(retryDelayMs(error, wait.failures, 1)).toBe(wait.max_ms);
  },
);

test("unless set, a call is retried as often as in the other SDK, with one key if the method needs one", async () => {
  const { perch, sent } = clientWith(() => Promise.resolve(new Response("", { status: 503 })));
  const keys = async (work: PromiseLike<unknown>): Promise<unknown[]> => {
    await thrownBy(work);
    return sent.splice(0).map(({ headers }) => new Headers(headers).get("idempotency-key"));
  };
  const calls: Record<string, () => PromiseLike<unknown>> = {
    GET: () => perch.agents.get("bot"),
    POST: () => perch.agents.pause("bot"),
    PATCH: () => perch.agents.update("bot", {}),
    DELETE: () => perch.agents.delete("bot"),
  };
  const { with: withKey, without } = cases.idempotency_keys;
  expect([...withKey, ...without].sort()).toEqual(Object.keys(calls).sort());
  for (const [method, call] of Object.entries(calls)) {
    const seen = await keys(call());
    expect(seen).toHaveLength(1 + cases.default_max_retries);
    expect(new Set(seen).size).toBe(1);
    expect(seen[0] === null).toBe(without.includes(method));
  }
});
