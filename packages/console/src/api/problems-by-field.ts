import { PerchError } from "@perch/sdk";

/** What the server says about each field of a request that it refused, by the field's path. */
export const problemsByField = (error: unknown): ReadonlyMap<string, string> =>
  new Map(error instanceof PerchError ? error.details.map(({ field, error: problem }) => [field, problem]) : []);
