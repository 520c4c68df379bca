import { expect, test } from "vitest";
import { actFor } from "../fairness/acting-organisation.ts";
import { limitCalls, type TakeCall } from "./limit-calls.ts";
import { OutboundBusyError } from "./outbound-share.ts";

function createCalls(turn: Awaited<ReturnType<TakeCall>>) {
  const counted: string[] = [];
  let sent = 0;
  const takeCall: TakeCall = async (organisationId, host) => {
    counted.push(`${organisationId} ${host}`);
    return turn;
  };
  const fetch = limitCalls(async () => {
    sent++;
    return new Response("hello");
  }, takeCall);
  return { fetch, counted, sent: () => sent };
}

test("a call is counted for its organisation and host", async () => {
  const { fetch, counted, sent } = createCalls({ waitMs: 0 });
  await actFor("one", () => fetch("https://Tool.example:8443/a?b"));
  expect({ counted, sent: sent() }).toEqual({ counted: ["one tool.example:8443"], sent: 1 });
});

test("a call of the service itself is not counted", async () => {
  const { fetch, counted, sent } = createCalls({ refused: "no", retryAfterMs: 1 });
  await fetch("https://tool.example/");
  expect({ counted, sent: sent() }).toEqual({ counted: [], sent: 1 });
});

test("a call beyond the rate waits for its turn", async () => {
  const { fetch } = createCalls({ waitMs: 100 });
  const startedMs = performance.now();
  await actFor("one", () => fetch("https://tool.example/"));
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(95);
});

test("a caller that gives up stops waiting, and sends nothing", async () => {
  const { fetch, sent } = createCalls({ waitMs: 60_000 });
  const aborting = new AbortController();
  const call = actFor("one", () => fetch("https://tool.example/", { signal: aborting.signal }));
  setTimeout(() => aborting.abort(new Error("enough")), 10);
  await expect(call).rejects.toThrow("enough");
  expect(sent()).toBe(0);
});

test("a refused call sends nothing, and shows when to try again", async () => {
  const { fetch, sent } = createCalls({ refused: "too many", retryAfterMs: 4000 });
  const error = await actFor("one", () => fetch("https://tool.example/").catch((reason: unknown) => reason));
  expect(error).toBeInstanceOf(OutboundBusyError);
  expect(error).toMatchObject({ message: "too many", retryAfterMs: 4000 });
  expect(sent()).toBe(0);
});
