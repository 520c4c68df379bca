const etags = new WeakMap<object, string>();

/** Stores the `ETag` of a response beside its content. */
export function keepEtag(data: unknown, headers: Headers): void {
  const etag = headers.get("etag");
  if (etag !== null && typeof data === "object" && data !== null) etags.set(data, etag);
}

/**
 * The `ETag` of an agent, a webhook or a key that a method returned, for the option `ifMatch`. Undefined for anything else, and for
 * copies.
 *
 * @example
 * ```ts
 * const agent = await perch.agents.get("support-bot");
 * await perch.agents.update("support-bot", { temperature: 0 }, {}, { ifMatch: etagOf(agent) });
 * ```
 */
export const etagOf = (data: object): string | undefined => etags.get(data);
