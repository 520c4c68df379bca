import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@perch/testkit/installation/server-process.ts";

const file = join(import.meta.dirname, "../../examples/connect-accounts/server.ts");

/** The future address of examples/connect-accounts. The agent must know its return address before it starts. */
export const connectAccountsOrigin = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

export interface ConnectAccountsSettings {
  readonly origin: string;
  readonly perchUrl: string;
  readonly apiKey: string;
}

/** Runs examples/connect-accounts, for the agent `support` and its tool `mailbox`. Returns a function that stops it. */
export async function startConnectAccounts({ origin, perchUrl, apiKey }: ConnectAccountsSettings): Promise<() => void> {
  const env = { ...process.env, PORT: new URL(origin).port, PERCH_URL: perchUrl, PERCH_API_KEY: apiKey };
  const child = spawn(process.execPath, ["--no-warnings", file], { env, stdio: ["ignore", "ignore", "inherit"] });
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await fetch(origin).catch(() => undefined)) return () => child.kill("SIGTERM");
    await sleep(50);
  }
  child.kill("SIGKILL");
  throw new Error("The application does not answer");
}
