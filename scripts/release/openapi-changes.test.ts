import { describe, expect, test } from "vitest";
import openapi from "../../packages/contract/openapi.json" with { type: "json" };
import { incompatibleChanges, type OpenApi } from "./openapi-changes.ts";

const before = openapi as unknown as OpenApi;
const agentPath = "/v1/agents/{agent_id}";

interface Changeable {
  readonly paths: Record<string, Record<string, unknown>>;
  readonly components: { readonly schemas: Record<string, { readonly properties?: Record<string, unknown> }> };
}

/** The document as it is now, changed. */
function changed(change: (document: Changeable) => void): OpenApi {
  const copy = structuredClone(openapi) as unknown;
  change(copy as Changeable);
  return copy as OpenApi;
}

describe("the document of this release", () => {
  test("is compatible with itself, and has operations to compare", () => {
    expect(Object.keys(before.paths).length).toBeGreaterThan(30);
    expect(incompatibleChanges(before, before)).toEqual([]);
  });

  test("may get operations, fields of answers and optional fields of requests", () => {
    const after = changed((document) => {
      Object.assign(document.paths, { "/v1/new": { get: { responses: {} } } });
      for (const { properties } of Object.values(document.components.schemas))
        if (properties) properties.brand_new = { type: "string" };
    });
    expect(incompatibleChanges(before, after)).toEqual([]);
  });

  test("may not lose an operation", () => {
    const after = changed((document) => {
      delete document.paths[agentPath]?.delete;
    });
    expect(incompatibleChanges(before, after)).toEqual([`DELETE ${agentPath} is gone`]);
  });

  test("may not lose or change a field of an answer", () => {
    const after = changed((document) => {
      const properties = document.components.schemas.Agent?.properties ?? {};
      delete properties.name;
      properties.created_at = { type: "integer" };
    });
    const found = incompatibleChanges(before, after).join("\n");
    expect(found).toContain(`GET ${agentPath}: 200.data.name is gone`);
    expect(found).toContain(`GET ${agentPath}: 200.data.created_at was string and is integer`);
  });
});

const small = (schema: object): OpenApi => ({
  paths: {
    "/a": {
      post: {
        requestBody: { content: { "application/json": { schema } } },
        responses: { "200": { content: { "application/json": { schema } } } },
      },
    },
  },
});
const object = (properties: object, required: string[] = []) => small({ type: "object", properties, required });

test.each([
  ["a field becomes required", object({ a: {} }), object({ a: {} }, ["a"]), "body.a is required now"],
  ["a field may be missing", object({ a: {} }, ["a"]), object({ a: {} }), "200.a may be missing now"],
  [
    "a value is refused",
    object({ a: { enum: ["x", "y"] } }),
    object({ a: { enum: ["x"] } }),
    'body.a no longer accepts "y"',
  ],
  [
    "a request no longer takes null",
    object({ a: { type: ["string", "null"] } }),
    object({ a: { type: "string" } }),
    "body.a was string or null and is string",
  ],
  [
    "an answer may be null",
    object({ a: { type: "string" } }),
    object({ a: { type: ["string", "null"] } }),
    "200.a was string and is string or null",
  ],
])("is seen: %s", (_, one, other, expected) => {
  expect(incompatibleChanges(one, other)).toEqual([`POST /a: ${expected}`]);
});
