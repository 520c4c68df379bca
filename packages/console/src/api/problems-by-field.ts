import { PerchError } from "@perch/sdk";

/** The server's messages about a refused request, by the path of each field. */
export const problemsByField = (error: unknown): ReadonlyMap<string, string> =>
  new Map(error instanceof PerchError ? error.details.map(({ field, error: problem }) => [field, problem]) : []);
