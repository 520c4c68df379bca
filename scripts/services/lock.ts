import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { lockFile, servicesDir } from "./layout.ts";
import { Problem } from "./problem.ts";
import { commandLine, readPid } from "./processes.ts";
import { waitUntil } from "./waiting.ts";

/**
 * One `pnpm services` at a time per checkout. The lock appears by link(), which is atomic and never shows a file without its
 * pid. A dead owner's lock is moved away before it is deleted, so that of two waiters only one can take it.
 */
export async function withLock<T>(work: () => Promise<T>): Promise<T> {
  mkdirSync(servicesDir, { recursive: true });
  let announced: number | undefined;
  const taken = await waitUntil(() => {
    if (tryLock()) return true;
    const owner = readPid(lockFile);
    if (owner !== undefined && !isAlive(owner)) removeStale(owner);
    else if (owner !== undefined && owner !== announced) {
      announced = owner;
      console.log(`waiting for another \`pnpm services\` (pid ${owner})`);
    }
    return false;
  }, 600);
  if (!taken) throw new Problem(`${lockFile} is still held by pid ${readPid(lockFile)} after 600 s`);
  try {
    return await work();
  } finally {
    rmSync(lockFile, { force: true });
  }
}

function isAlive(pid: number): boolean {
  return commandLine(pid).includes("main.ts");
}

function tryLock(): boolean {
  const mine = `${lockFile}.${process.pid}`;
  writeFileSync(mine, `${process.pid}\n`);
  try {
    linkSync(mine, lockFile);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(mine);
  }
}

function removeStale(owner: number): void {
  const aside = `${lockFile}.stale.${process.pid}`;
  try {
    renameSync(lockFile, aside);
    // Someone was faster and we moved a live lock: give it back.
    if (Number.parseInt(readFileSync(aside, "utf8"), 10) !== owner) linkSync(aside, lockFile);
    rmSync(aside);
  } catch {
    rmSync(aside, { force: true });
  }
}
