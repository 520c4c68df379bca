import type { Operations } from "./generated-operations.ts";
import type { Pagination } from "./generated-schemas.ts";

/** The route of an operation: `"GET /v1/agents/{agent_id}"`. */
export type OperationKey = keyof Operations;
/** What an operation takes: `params`, `query` and `body`, as far as it has them. */
export type RequestOf<K extends OperationKey> = Operations[K]["request"];
/** The body of its answer. */
export type ResponseOf<K extends OperationKey> = Operations[K]["response"];
/** What is in the envelope of its answer. */
export type DataOf<K extends OperationKey> = ResponseOf<K> extends { data: infer Data } ? Data : never;
/** What its list is made of. */
export type ItemOf<K extends OperationKey> = ResponseOf<K> extends { data: Array<infer Item> } ? Item : never;
/** What it says of its pages. */
export type PaginationOf<K extends OperationKey> =
  ResponseOf<K> extends { pagination: infer P extends Pagination } ? P : never;

/** The second argument can be left out where nothing in it is required. */
export type RequestArguments<K extends OperationKey, Options> =
  Record<never, never> extends RequestOf<K>
    ? [request?: RequestOf<K>, options?: Options]
    : [request: RequestOf<K>, options?: Options];
