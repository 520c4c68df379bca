import { createHash } from "node:crypto";

/** A request that carries an `Idempotency-Key`. */
export interface IdempotentRequest {
  readonly method: string;
  /** As requested, without the query. */
  readonly path: string;
  readonly idempotencyKey: string;
  readonly body: unknown;
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The order of fields does not matter. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? "";

/** Identifies the request: a second one with the same hash is a retry. */
export const requestHash = ({ method, path, idempotencyKey }: IdempotentRequest): Buffer =>
  sha256(JSON.stringify([method, path, idempotencyKey]));

/** A retry must have the same body as the first attempt. */
export const bodyFingerprint = ({ body }: IdempotentRequest): Buffer => sha256(canonicalJson(body));
