import { describe, expect, test } from "vitest";
import { isRepeatable, type Operation, openApiDocument, operationKeys, operations, routeOf } from "../src/index.ts";

interface Described {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { $ref?: string; headers?: Record<string, { $ref: string }> }>>;
}
const document = openApiDocument("1") as unknown as {
  paths: Record<string, Record<string, Described>>;
  components: { headers: Record<string, unknown>; responses: Record<string, Described["responses"][string]> };
};
const described = operationKeys.map((key) => {
  const { method, path } = routeOf(key);
  const found = document.paths[path]?.[method.toLowerCase()];
  if (!found) throw new Error(`${key} is not in the document`);
  const { parameters, responses } = found;
  return {
    key,
    operation: operations[key] as Operation,
    requestHeaders: parameters.filter((one) => one.in === "header").map(({ name }) => name),
    statuses: Object.keys(responses).map(Number),
    headersOf: (status: number) => {
      const response = responses[status];
      const whole = response?.$ref ? document.components.responses[response.$ref.split("/").at(-1) ?? ""] : response;
      return Object.keys(whole?.headers ?? {});
    },
  };
});
const keysWith = (holds: (one: (typeof described)[number]) => boolean) => described.filter(holds).map(({ key }) => key);

describe("the document", () => {
  test("declares each request header exactly where it is honoured", () => {
    expect(described.length).toBeGreaterThan(60);
    const keysThatTake = (name: string) => keysWith(({ requestHeaders }) => requestHeaders.includes(name));
    expect(keysThatTake("X-Correlation-Id")).toEqual(operationKeys);
    expect(keysThatTake("X-User-Token")).toEqual(keysWith(({ operation }) => operation.permission !== "public"));
    expect(keysThatTake("Idempotency-Key")).toEqual(operationKeys.filter(isRepeatable));
    expect(keysThatTake("Prefer")).toEqual(["POST /v1/agents/{agent_id}/invoke"]);
    expect(keysThatTake("If-Match")).toEqual(keysWith(({ operation }) => operation.ifMatch === true));
    expect(keysThatTake("If-Match")).toContain("PATCH /v1/agents/{agent_id}");
    expect(keysThatTake("Last-Event-ID")).toEqual(keysWith(({ operation }) => operation.events !== undefined));
    expect(keysThatTake("X-MFA-Code")).not.toContain("POST /v1/agents/{agent_id}/invoke");
    expect(keysThatTake("X-MFA-Code")).toContain("DELETE /v1/agents/{agent_id}");
  });

  test("declares 412 exactly where If-Match is, and 202 with its Location where an operation may go on", () => {
    expect(keysWith(({ statuses }) => statuses.includes(412))).toEqual(
      keysWith(({ requestHeaders }) => requestHeaders.includes("If-Match")),
    );
    const inBackground = keysWith(({ operation }) => operation.accepted !== undefined);
    expect(inBackground).toContain("DELETE /v1/agents/{agent_id}/memory");
    expect(keysWith(({ headersOf }) => headersOf(202).includes("Location"))).toEqual(inBackground);
  });

  test("declares the headers of every success and every error", () => {
    for (const { key, operation, headersOf, statuses } of described) {
      const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
      const everywhere = ["X-Correlation-Id", "Deprecation", "Sunset"];
      for (const status of statuses)
        expect(headersOf(status), `${key} ${status}`).toEqual(
          expect.arrayContaining(operation.permission === "public" ? everywhere : [...everywhere, ...limits]),
        );
      expect(headersOf(operation.status).includes("ETag"), key).toBe(operation.etag === true);
      expect(headersOf(operation.status).includes("Idempotent-Replayed"), key).toBe(isRepeatable(key));
      expect(headersOf(429), key).toContain("Retry-After");
      expect(headersOf(503), key).toContain("Retry-After");
      expect(headersOf(401), key).toContain("WWW-Authenticate");
    }
    expect(Object.keys(document.components.responses.still_running?.headers ?? {})).toContain("Location");
  });

  test("every header that it refers to is there", () => {
    const referred = [...JSON.stringify(document).matchAll(/#\/components\/headers\/([\w-]+)/g)].map(
      ([, name]) => name,
    );
    expect(new Set(referred)).toEqual(new Set(Object.keys(document.components.headers)));
  });
});
