import { z } from "zod";

/** A map with at most so many entries. The server counts them before it judges them: see judge-bounds.ts there. */
export const boundedRecord = <K extends z.core.$ZodRecordKey, V extends z.core.SomeType>(
  key: K,
  value: V,
  maxEntries: number,
) =>
  z.record(key, value).refine((entries) => Object.keys(entries).length <= maxEntries, {
    error: `At most ${maxEntries} entries`,
    params: { maxEntries },
  });
