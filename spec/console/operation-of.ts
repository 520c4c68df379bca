import { type OperationKey, operationKeys, operations, routeOf } from "../../packages/contract/src/index.ts";

/** A path without a parameter comes before one that has it: /v1/invocations is not an agent. */
const operationPatterns = operationKeys
  .toSorted((a, b) => a.split("{").length - b.split("{").length)
  .map((key) => {
    const { method, path } = routeOf(key);
    return { key, method, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`) };
  });
/** The operation of a request, if it is one. */
export const operationOf = (method: string, path: string): OperationKey | undefined =>
  operationPatterns.find((each) => each.method === method && each.pattern.test(path))?.key;

/** Whether a request asks for a change. A search that is too long for an address is a POST, and changes nothing. */
export function isChange({ method, url }: { readonly method: string; readonly url: URL }): boolean {
  if (method === "GET") return false;
  const key = operationOf(method, url.pathname);
  return key === undefined || !("readOnly" in operations[key]);
}
