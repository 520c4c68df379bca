import { setTimeout as sleep } from "node:timers/promises";

const maxMs = 60_000;
const intervalMs = 50;

export async function poll(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + maxMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`After ${maxMs / 1000} s it is not so that ${what}`);
    await sleep(intervalMs);
  }
}
