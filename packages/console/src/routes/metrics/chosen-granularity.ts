import { fittingGranularities, type Granularity } from "../../parts/granularity.ts";
import { resolveRange } from "../../parts/time-range.ts";

/** The interval that an address names, if the range can have it. Else the one that fits it. */
export function chosenGranularity(text: string | undefined, range: string | undefined): Granularity | undefined {
  const { start, end = new Date() } = resolveRange(range, new Date());
  return fittingGranularities(end.getTime() - start.getTime()).find((one) => one === text);
}
