import { expect, test } from "vitest";
import type { Logger } from "../platform/logger.ts";
import { createDependencyWatch } from "./dependency-watch.ts";

function createWatch() {
  const logged: string[] = [];
  const logger = {
    warn: ({ dependency }: { dependency: string }, message: string) => logged.push(`${dependency}: ${message}`),
    info: ({ dependency }: { dependency: string }, message: string) => logged.push(`${dependency}: ${message}`),
  } as unknown as Logger;
  const state = { nowMs: 0, isAway: true, pings: 0 };
  const describeOne = (name: string, ping: () => Promise<void>) => ({ name, addresses: ["host:1"], effect: "…", ping });
  const watch = createDependencyWatch({
    dependencies: [
      describeOne("one", async () => {
        state.pings += 1;
        if (state.isAway) throw new Error("refused");
      }),
      describeOne("two", async () => undefined),
    ],
    logger,
    now: () => state.nowMs,
  });
  return { watch, state, logged };
}

test("names what does not answer, logs each change once, and asks no more than every five seconds however often it is called", async () => {
  const { watch, state, logged } = createWatch();
  for (let call = 0; call < 10; call++) expect(await watch.listSilent()).toEqual(["one"]);
  expect(state.pings).toBe(1);
  state.nowMs += 5000;
  expect(await watch.listSilent()).toEqual(["one"]);
  state.isAway = false;
  expect(await watch.listSilent()).toEqual(["one"]);
  state.nowMs += 5000;
  await expect.poll(watch.listSilent).toEqual([]);
  expect(state.pings).toBe(3);
  expect(logged).toEqual(["one: dependency does not answer", "one: dependency answers again"]);
});

test("a dependency that never replies counts as unavailable after a second, and no later call waits for it", async () => {
  let nowMs = 0;
  let pings = 0;
  const ping = () => {
    pings += 1;
    return new Promise(() => undefined);
  };
  const dependency = { name: "mute", addresses: [], effect: "…", ping };
  const logger = { warn: () => undefined } as unknown as Logger;
  const watch = createDependencyWatch({ dependencies: [dependency], logger, now: () => nowMs });
  expect(await watch.listSilent()).toEqual(["mute"]);
  nowMs += 5000;
  // It fires long before the limit of a second.
  const timer = new Promise((resolve) => setImmediate(resolve, "waited"));
  expect(await Promise.race([watch.listSilent(), timer])).toEqual(["mute"]);
  expect(pings).toBe(2);
});
