/** So long after a change its traces in the lists are taken for its own. */
const tracesMs = 10_000;

let changedAt = Number.NEGATIVE_INFINITY;

export function noteOwnChange(): void {
  changedAt = performance.now();
}

/** What is new in a list now may come from what was just done in this tab. */
export const hasJustChanged = (): boolean => performance.now() - changedAt < tracesMs;
