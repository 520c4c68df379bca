import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "iovalkey";
import { freePort } from "./server-process.ts";

export interface ValkeyProcess {
  readonly url: string;
  readonly start: () => Promise<void>;
  /** SIGKILL: nothing is saved and no connection is closed cleanly. */
  readonly kill: () => Promise<void>;
  /** SIGSTOP: connections stay open but nothing answers. */
  readonly freeze: () => void;
  readonly thaw: () => void;
}

async function waitUntilReady(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    const answer = await client
      .connect()
      .then(() => client.ping())
      .catch(() => undefined);
    client.disconnect();
    if (answer === "PONG") return;
    await sleep(50);
  }
  throw new Error(`Valkey at ${url} does not answer`);
}

/** Starts a Valkey process that the test may kill. */
export async function startValkey(): Promise<ValkeyProcess> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(
      "valkey-server",
      ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
      { stdio: "ignore" },
    );
    await waitUntilReady(url);
  };
  await start();
  return {
    url,
    start,
    kill: async () => {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
  };
}
