import { fittingGranularities, type Granularity } from "../../parts/granularity.ts";
import { resolveRange } from "../../parts/time-range.ts";

/** The interval in the address, if the range allows it; otherwise the one that fits the range. */
export function chosenGranularity(text: string | undefined, range: string | undefined): Granularity | undefined {
  const { start, end = new Date() } = resolveRange(range, new Date());
  return fittingGranularities(end.getTime() - start.getTime()).find((one) => one === text);
}
