import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../test/support/create-redactor.ts";
import { threadMsWithin } from "../../../test/support/thread-time.ts";
import { createShares } from "../../fairness/shares.ts";
import { UnreadAnswerError } from "../outbound-share.ts";
import { chainRedactors, createRedactors, type RedactedStream } from "./redactor.ts";

const organisation = "0190a1b2-0000-7000-8000-000000000001";
const secret = "tok-5e9C/r3t+V4lu3";
const label = "[secret key]";
const redactor = createRedactor(organisation, [[label, secret]]);
/** Longer than what is searched in the main thread. */
const padding = "nothing to see here. ".repeat(200);

async function writeAll({ write, end }: RedactedStream, pieces: readonly string[]): Promise<string> {
  let redacted = "";
  for (const piece of pieces) redacted += await write(piece);
  return redacted + (await end());
}

describe.each([
  ["short, in the main thread", ""],
  ["long, in a thread", padding],
])("a text that is %s", (_, before) => {
  test("has no value afterwards, as a whole, in pieces and in JSON", async () => {
    const [whole, redacted] = [`${before}a ${secret} b`, `${before}a ${label} b`];
    expect(await redactor.text(whole)).toBe(redacted);
    expect(await redactor.json({ a: [{ [whole]: whole }, 1, null, true] })).toEqual({
      a: [{ [redacted]: redacted }, 1, null, true],
    });
    for (const stream of [redactor.stream(), redactor.byteStream()])
      expect(await writeAll(stream, whole.match(/.{1,7}/gs) ?? [])).toBe(redacted);
  });

  test("has no beginning of a value at its end when it is cut off", async () => {
    expect(await redactor.beginning(`${before}see ${secret.slice(0, 9)}`)).toBe(`${before}see `);
  });

  test("has no value of either of two redactors", async () => {
    const both = chainRedactors(redactor, createRedactor(organisation, [["[secret link]", "second-secret"]]));
    const whole = `${before}a ${secret} b second-secret c`;
    const redacted = `${before}a ${label} b [secret link] c`;
    expect(await both.text(whole)).toBe(redacted);
    expect(await both.json([whole])).toEqual([redacted]);
    for (const stream of [both.stream(), both.byteStream()])
      expect(await writeAll(stream, whole.match(/.{1,9}/gs) ?? [])).toBe(redacted);
    expect(await both.beginning(`${before}a second-sec`)).toBe(`${before}a `);
  });
});

test("a value that begins in the main thread and ends in the other is replaced", async () => {
  const { write, end } = redactor.stream();
  const first = await write(`${"x".repeat(2030)} ${secret.slice(0, 10)}`);
  expect(first).toBe(`${"x".repeat(2030)} `);
  expect((await write(`${secret.slice(10)} y`)) + (await end())).toBe(`${label} y`);
});

test("long values are prepared in the thread", async () => {
  const long = createRedactor(organisation, [[label, "k3y-".repeat(1024)]]);
  expect(await long.text(`x ${"k3y-".repeat(1024)} y`)).toBe(`x ${label} y`);
});

describe("a text that takes a second to search", () => {
  const hostile = `${secret.slice(0, 2)}%6F%6B`.repeat(16 * 1024);

  test("does not hold the event loop", async () => {
    await redactor.text(padding);
    expect(await threadMsWithin(100, () => redactor.text(hostile))).toBeLessThan(100);
  });

  test("is refused with the reason when its organisation waits for too much, and others are searched at once", async () => {
    const shares = createShares({ onRefused: () => undefined, databaseConnections: 1 });
    shares.tiers.remember(organisation, "free");
    const create = createRedactors({ processorTime: shares.of.processorTime, onWorked: () => undefined });
    const attempts = Array.from({ length: 300 }, () => create(organisation, [[label, secret]]).text(hostile));
    void Promise.allSettled(attempts);
    const startMs = performance.now();
    await create("0190a1b2-0000-7000-8000-000000000002", [[label, secret]]).text(padding);
    expect(performance.now() - startMs).toBeLessThan(2000);
    const error = await attempts.at(-1)?.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreadAnswerError);
    expect((error as Error).message).toContain("too many tasks for the processor under way (1 at once");
  });
});
