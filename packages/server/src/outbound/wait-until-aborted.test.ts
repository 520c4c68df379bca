import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { waitUntilAborted } from "./wait-until-aborted.ts";

const aborted = AbortSignal.abort(new Error("the caller is gone"));

test("gives what the work gives, if the caller waits for it", async () => {
  const { signal } = new AbortController();
  await expect(waitUntilAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(waitUntilAborted(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
});

test("stops waiting with the signal's reason, and the work goes on", async () => {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const waiting = waitUntilAborted(promise, controller.signal);
  controller.abort(new Error("the caller is gone"));
  await expect(waiting).rejects.toThrow("the caller is gone");
  resolve("done");
  await expect(promise).resolves.toBe("done");
});

test("work that fails after its caller has gone is not an unhandled rejection, which would end the process", async () => {
  const unhandled: unknown[] = [];
  const listen = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", listen);
  onTestFinished(() => void process.off("unhandledRejection", listen));
  const { promise, reject } = Promise.withResolvers<never>();
  await expect(waitUntilAborted(promise, aborted)).rejects.toThrow("the caller is gone");
  reject(new Error("failed later"));
  await setTimeout(20);
  expect(unhandled).toEqual([]);
});
