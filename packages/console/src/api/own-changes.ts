/** For this long after a change, new rows in a list count as results of that change. */
const tracesMs = 10_000;

let changedAt = Number.NEGATIVE_INFINITY;

export function noteOwnChange(): void {
  changedAt = performance.now();
}

/** New rows in a list may come from a change that was just made in this tab. */
export const hasJustChanged = (): boolean => performance.now() - changedAt < tracesMs;
