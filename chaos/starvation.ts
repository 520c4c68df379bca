import { type CpuTimes, cpuUse, readCpuTimes } from "@perch/testkit/installation/cpu-time.ts";

/** A time in which other virtual machines took much of this one. */
export interface StarvedTime {
  readonly fromMs: number;
  readonly untilMs: number;
}

interface Sample {
  readonly atMs: number;
  readonly stolen: number;
}

const sampleEveryMs = 1000;
/** With less starvation than this, the engine's leaders renew their leases in time. */
const starvedShare = 0.25;
/** The engine notices a little later that a node did not answer in time. */
const effectMs = 5000;

/** Joins samples that follow each other closely into one interruption. */
export function starvedTimes(samples: readonly Sample[]): StarvedTime[] {
  const times: StarvedTime[] = [];
  for (const { atMs } of samples.filter(({ stolen }) => stolen > starvedShare)) {
    const before = times.at(-1);
    const [fromMs, untilMs] = [atMs - sampleEveryMs, atMs + effectMs];
    if (before && fromMs <= before.untilMs) times[times.length - 1] = { fromMs: before.fromMs, untilMs };
    else times.push({ fromMs, untilMs });
  }
  return times;
}

/**
 * Measures how much of the machine is stolen, so that repetitions of the engine for that reason are not taken for
 * defects.
 */
export function watchStarvation(): { readonly times: () => StarvedTime[]; readonly stop: () => void } {
  const samples: Sample[] = [];
  let before: CpuTimes = readCpuTimes({});
  const timer = setInterval(() => {
    const now = readCpuTimes({});
    samples.push({ atMs: performance.now(), stolen: cpuUse(before, now).stolen });
    before = now;
  }, sampleEveryMs);
  return { times: () => starvedTimes(samples), stop: () => clearInterval(timer) };
}
