import { readFileSync } from "node:fs";

/** The processes of a system under load, by the name of their part. A part may start and end processes. */
export type Parts = Readonly<Record<string, () => readonly number[]>>;

/** The time that processes and the machine have used since their start. */
export interface CpuTimes {
  readonly parts: Readonly<Record<string, number>>;
  readonly busyMs: number;
  readonly stolenMs: number;
  readonly totalMs: number;
}

/** The kernel counts in hundredths of a second on every platform that we support (USER_HZ). */
const tickMs = 10;

/** The time of a process with the children that it has waited for, such as an ended PostgreSQL backend. */
function processMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain spaces; utime, stime, cutime and cstime are fields 14 to 17.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * tickMs;
  } catch {
    return 0;
  }
}

export function readCpuTimes(parts: Parts): CpuTimes {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n", 1);
  // user and nice include the time of guests, which follows steal.
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, softirq = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map((ticks) => Number(ticks) * tickMs);
  const busyMs = user + nice + system + irq + softirq;
  const sums = Object.entries(parts).map(([name, pids]) => [
    name,
    pids().reduce((sum, pid) => sum + processMs(pid), 0),
  ]);
  return {
    parts: Object.fromEntries(sums),
    busyMs,
    stolenMs: steal,
    totalMs: busyMs + idle + wait + steal,
  };
}

export interface CpuUse {
  /** Milliseconds by part. */
  readonly parts: Readonly<Record<string, number>>;
  /** Shares of the machine: used by processes outside the parts, taken by other virtual machines, and idle. */
  readonly foreign: number;
  readonly stolen: number;
  readonly idle: number;
}

export function cpuUse(before: CpuTimes, after: CpuTimes): CpuUse {
  const parts = Object.fromEntries(
    Object.entries(after.parts).map(([name, ms]) => [name, ms - (before.parts[name] ?? 0)]),
  );
  const own = Object.values(parts).reduce((sum, ms) => sum + ms, 0);
  const totalMs = after.totalMs - before.totalMs;
  const busyMs = after.busyMs - before.busyMs;
  const stolenMs = after.stolenMs - before.stolenMs;
  return {
    parts,
    foreign: Math.max(0, busyMs - own) / totalMs,
    stolen: stolenMs / totalMs,
    idle: (totalMs - busyMs - stolenMs) / totalMs,
  };
}
