import { createHash } from "node:crypto";

/** A request that carries an `Idempotency-Key`. */
export interface RepeatableRequest {
  readonly method: string;
  /** As it was asked for, without the query. */
  readonly path: string;
  readonly idempotencyKey: string;
  readonly body: unknown;
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The same value always gives the same text, whatever order its fields came in. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? "";

/** What is being asked: two requests with the same hash are one request, repeated. */
export const requestHash = ({ method, path, idempotencyKey }: RepeatableRequest): Buffer =>
  sha256(JSON.stringify([method, path, idempotencyKey]));

/** With what: a repeated request must bring the same body. */
export const bodyFingerprint = ({ body }: RepeatableRequest): Buffer => sha256(canonical(body));
