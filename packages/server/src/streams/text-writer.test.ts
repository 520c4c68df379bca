import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { foldTokens, type TextToken } from "./text-diff.ts";
import { type Claim, createTextWriter, type TextStore } from "./text-writer.ts";

/** Stores the text of one step. Each call succeeds or fails as the test decides. */
function createStore(nextOutcome: () => "fine" | "lost before" | "lost after" | "memory lost" = () => "fine") {
  let tokens: TextToken[] = [];
  let owner: Claim | undefined;
  let gaps = 0;
  const withOutcome = async <T>(work: () => T): Promise<T> => {
    const outcome = nextOutcome();
    await sleep(0);
    if (outcome === "lost before") throw new Error("not sent");
    if (outcome === "memory lost") {
      tokens = [];
      owner = undefined;
    }
    const answer = work();
    if (outcome === "lost after") throw new Error("answer lost");
    return answer;
  };
  const store: TextStore = {
    take: (claim) =>
      withOutcome(() => {
        if (owner && owner.writer !== claim.writer && claim.generation > 1) return undefined;
        owner = claim;
        return foldTokens(tokens);
      }),
    put: (claim, token) =>
      withOutcome(() => {
        if (!owner) return "lost";
        if (owner.writer !== claim.writer || owner.generation !== claim.generation) return "taken";
        if (token.offset > foldTokens(tokens).length) gaps++;
        tokens.push(token);
        return "put";
      }),
  };
  return { store, text: () => foldTokens(tokens), tokens: () => tokens, gaps: () => gaps };
}

const quick = { now: () => 1, maxTextLength: 10_000, onFailure: () => undefined, flushEveryMs: 1, retryAfterMs: 2 };

describe("a text writer", () => {
  test("ends with the whole text and never a gap, whichever calls fail, before or after they took effect", async () => {
    let failures = 0;
    const attempts = Array.from({ length: 200 }, async (_, run) => {
      let call = run * 7;
      const store = createStore(() => {
        call += 1;
        const outcome =
          (["fine", "lost before", "lost after", "memory lost"] as const)[(call * call + run) % 11] ?? "fine";
        if (outcome !== "fine") failures++;
        return outcome;
      });
      let text = "";
      const writer = createTextWriter({ store: store.store, ...quick, finishWithinMs: 5000 });
      for (let i = 0; i < 40; i++) {
        const delta = `${run}.${i} 😀`;
        text += delta;
        writer.write(delta);
        if (i % 3 === 0) await sleep(1);
      }
      await writer.finish();
      expect(store.text()).toBe(text);
      expect(store.gaps()).toBe(0);
    });
    await Promise.all(attempts);
    expect(failures).toBeGreaterThan(300);
  });

  test("writes the first words at once and batches those that follow closely", async () => {
    const { store, tokens, text } = createStore();
    const writer = createTextWriter({ store, ...quick, flushEveryMs: 50 });
    await sleep(5);
    writer.write("first");
    await sleep(5);
    expect(text()).toBe("first");
    for (let i = 0; i < 10; i++) writer.write(` ${i}`);
    await sleep(5);
    expect(text()).toBe("first");
    await writer.finish();
    expect(text()).toBe("first 0 1 2 3 4 5 6 7 8 9");
    expect(tokens()).toHaveLength(2);
  });

  test("an attempt that lost the stream to another writes no more, and finishes at once", async () => {
    const { store, text } = createStore();
    const old = createTextWriter({ store, ...quick });
    old.write("old words");
    await sleep(10);
    const next = createTextWriter({ store, ...quick });
    next.write("old w");
    await sleep(10);
    old.write(" and more");
    await old.finish();
    next.write("ine");
    await next.finish();
    expect(text()).toBe("old wine");
  });

  test("a store that hangs delays the end of a step by at most its limit", async () => {
    const store: TextStore = { take: () => new Promise(() => {}), put: () => new Promise(() => {}) };
    const writer = createTextWriter({ store, ...quick, finishWithinMs: 100 });
    writer.write("text");
    const startedAt = performance.now();
    await writer.finish();
    expect(performance.now() - startedAt).toBeLessThan(200);
  });

  test("an attempt that is abandoned while the store is down does not retry forever", async () => {
    let takes = 0;
    const store: TextStore = {
      take: async () => {
        takes++;
        throw new Error("away");
      },
      put: async () => "put",
    };
    const writer = createTextWriter({ store, ...quick });
    writer.write("text");
    await sleep(20);
    const takesBefore = takes;
    await sleep(50);
    expect(takes).toBe(takesBefore);
    expect(takesBefore).toBeLessThan(4);
  });

  test("a text above the limit is stored up to it, as a prefix of the whole", async () => {
    const { store, text } = createStore();
    const writer = createTextWriter({ store, ...quick, maxTextLength: 100 });
    for (let i = 0; i < 50; i++) {
      writer.write("0123456789");
      await sleep(2);
    }
    await writer.finish();
    expect(text().length).toBeGreaterThan(50);
    expect(text().length).toBeLessThanOrEqual(100);
    expect("0123456789".repeat(50).startsWith(text())).toBe(true);
  });
});
