/** The memory that a tab of the browser uses, after a garbage collection. */
export interface TabSize {
  readonly heapBytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

const megabyte = 1024 * 1024;
/**
 * The heap counts as flat if it is, in the last third of the time, at most this much above its size in the second
 * third.
 */
const maxGrowth = 0.1;
const maxGrowthBytes = 3 * megabyte;
/** A few nodes come and go with the content. A node for each line would be hundreds, in the short form too. */
const maxMore = { nodes: 200, listeners: 50 };

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const megabytes = (bytes: number): string => (bytes / megabyte).toFixed(2);

interface Thirds {
  readonly second: number;
  readonly last: number;
}

function thirdsOf(values: readonly number[]): Thirds {
  const third = Math.floor(values.length / 3);
  return { second: mean(values.slice(-2 * third, -third)), last: mean(values.slice(-third)) };
}

/** Why a tab grows; empty if it does not. */
export function judgeGrowth(tab: string, sizes: readonly TabSize[]): string[] {
  if (sizes.length < 6) return [`${tab}: ${sizes.length} samples say nothing about growth`];
  const heap = thirdsOf(sizes.map(({ heapBytes }) => heapBytes));
  const grownBytes = heap.last - heap.second;
  const problems: string[] = [];
  if (grownBytes > maxGrowthBytes || grownBytes > heap.second * maxGrowth)
    problems.push(`${tab}: the heap grew from ${megabytes(heap.second)} to ${megabytes(heap.last)} MB`);
  for (const what of ["nodes", "listeners"] as const) {
    const { second, last } = thirdsOf(sizes.map((size) => size[what]));
    if (last - second > maxMore[what])
      problems.push(`${tab}: ${what} grew from ${Math.round(second)} to ${Math.round(last)}`);
  }
  return problems;
}

/** Twice as long as charts wait before they ask again. */
const maxStillMs = 120_000;

/** A tab that has stopped is flat, too: why this one did not go on; empty if it did. */
export function judgeRefreshes(tab: string, refreshedMs: readonly number[], endMs: number): string[] {
  const gaps = [...refreshedMs, endMs].map((atMs, index, all) => atMs - (all[index - 1] ?? atMs));
  const longestMs = Math.max(...gaps);
  return longestMs > maxStillMs ? [`${tab}: nothing was refreshed for ${Math.round(longestMs / 1000)} s`] : [];
}

/** The numbers of the lines in the tail, which is copied repeatedly. */
export interface LineJudge {
  readonly add: (numbers: readonly number[]) => void;
  /** How many lines were seen. */
  readonly seen: () => number;
  readonly problems: readonly string[];
}

/** Every number once and in order: within each copy, and from one copy to the next. */
export function createLineJudge(): LineJudge {
  const problems: string[] = [];
  let last = 0;
  return {
    add: (numbers) => {
      const [first] = numbers;
      if (first === undefined) return void problems.push(`nothing is held after line ${last}`);
      if (first > last + 1) problems.push(`lines ${last + 1} to ${first - 1} were not seen`);
      for (const [index, number] of numbers.entries()) {
        const before = numbers[index - 1];
        if (before !== undefined && number !== before + 1)
          problems.push(`line ${before} is followed by line ${number}`);
      }
      const end = numbers.at(-1) ?? 0;
      if (end < last) problems.push(`line ${last} is gone, the last one is ${end}`);
      last = Math.max(last, end);
    },
    seen: () => last,
    problems,
  };
}
