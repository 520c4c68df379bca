import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Perch, TimeoutError } from "../src/index.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const daySeconds = 86_400;
const pending = { id: "dep_1", status: "pending" };

/** A client whose requests all get this answer, and the requests. */
function clientWith(answer: () => Promise<Response>, timeoutSeconds = 60) {
  const sent: RequestInit[] = [];
  const fetch = (_: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push(init);
    return answer();
  };
  const settings = { baseUrl: "https://perch.example", apiKey: "k", fetch, maxRetries: 0, timeoutSeconds };
  return { perch: new Perch(settings), sent };
}
const never = (): Promise<Response> => new Promise(() => undefined);

/** The state of the work within a day. */
async function afterDay(work: PromiseLike<unknown>): Promise<string> {
  let state = "waiting";
  work.then(
    () => (state = "ended"),
    () => (state = "failed"),
  );
  await vi.advanceTimersByTimeAsync(daySeconds * 1000);
  return state;
}

describe.each([30 * daySeconds, Number.POSITIVE_INFINITY])("with timeoutSeconds %d", (timeoutSeconds) => {
  test("a call and the waits for a run and a deployment go on for a day", async () => {
    const { perch } = clientWith(never, timeoutSeconds);
    expect(await afterDay(perch.me())).toBe("waiting");
    expect(await afterDay(perch.deployments.deployAndWait("bot", {} as never, { timeoutSeconds }))).toBe("waiting");
    expect(await afterDay(perch.runs.wait("bot", "req_1", { timeoutSeconds }))).toBe("waiting");
  });

  test("a run is waited for as long as the server allows", async () => {
    const { perch, sent } = clientWith(never);
    expect(await afterDay(perch.agents.invoke("bot", { message: "hello" }, { timeoutSeconds }))).toBe("waiting");
    expect(new Headers(sent[0]?.headers).get("prefer")).toBe("wait=9999");
  });
});

test("a deployment whose creation was not answered in time can be repeated with the error's key", async () => {
  const { perch, sent } = clientWith(never, 1000);
  const late = perch.deployments.deployAndWait("bot", {} as never, { timeoutSeconds: 300 }).catch((error) => error);
  await vi.advanceTimersByTimeAsync(300_000);
  const error: unknown = await late;
  expect(error).toBeInstanceOf(TimeoutError);
  const [idempotencyKey] = sent.map(({ headers }) => new Headers(headers).get("idempotency-key"));
  expect(idempotencyKey).toEqual(expect.any(String));
  const url = "https://perch.example/v1/agents/bot/deployments";
  expect(error).toMatchObject({ method: "POST", url, idempotencyKey });
  expect(String(error)).toContain("The deployment was not answered after 300 s.");
});

test("a Retry-After of years does not ask again at once", async () => {
  const headers = { "retry-after": "999999999" };
  const { perch, sent } = clientWith(() => Promise.resolve(Response.json({ data: pending }, { headers })));
  const waiting = perch.deployments.deployAndWait("bot", {} as never, { timeoutSeconds: 30 * daySeconds });
  expect(await afterDay(waiting)).toBe("waiting");
  expect(sent).toHaveLength(1);
});
