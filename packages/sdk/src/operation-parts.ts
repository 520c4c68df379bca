import type { Operations } from "./generated-operations.ts";
import type { RequestOptions } from "./options.ts";
import type { PagePosition } from "./page-list.ts";

/** The route of an operation: `"GET /v1/agents/{agent_id}"`. */
export type OperationKey = keyof Operations;
/** The request of an operation: `params`, `query` and `body`. */
export type RequestOf<K extends OperationKey> = Operations[K]["request"];
/** The response body of an operation. */
export type ResponseOf<K extends OperationKey> = Operations[K]["response"];
/** `data` of an operation's response. */
export type DataOf<K extends OperationKey> = ResponseOf<K> extends { data: infer Data } ? Data : never;
/** An item of an operation's list. */
export type ItemOf<K extends OperationKey> = ResponseOf<K> extends { data: Array<infer Item> } ? Item : never;
/** `pagination` of an operation's list. */
export type PaginationOf<K extends OperationKey> =
  ResponseOf<K> extends { pagination: infer P extends PagePosition } ? P : never;

/** Options of a call are an argument of their own: in a query or a request they are an error of the compiler, which shows this text. */
type WithoutOptions = { readonly [Name in keyof RequestOptions]?: "This is an option: pass it in the next argument" };
/** The query of an operation, as its method takes it. */
export type QueryOf<K extends OperationKey> =
  RequestOf<K> extends { query?: infer Query } ? NonNullable<Query> & WithoutOptions : never;

/** The second argument can be left out if nothing in it is required. */
export type RequestArguments<K extends OperationKey, Options> =
  Record<never, never> extends RequestOf<K>
    ? [request?: RequestOf<K> & WithoutOptions, options?: Options]
    : [request: RequestOf<K> & WithoutOptions, options?: Options];
