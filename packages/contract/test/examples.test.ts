import { describe, expect, test } from "vitest";
import {
  ErrorBody,
  errorCodes,
  errorExamples,
  keyPattern,
  type Operation,
  openApiDocument,
  operationExamples,
  operationKeys,
  operations,
  routeOf,
} from "../src/index.ts";

const hint = "record it: node scripts/record-examples/main.ts";

/** Only a clear of very many memories is answered with 202: the story has none. */
const acceptedWithoutExample = ["DELETE /v1/agents/{agent_id}/memory"];

interface Described {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Record<string, { readonly example?: unknown }> };
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { readonly example?: unknown }> }>>;
}
const document = openApiDocument("1") as unknown as {
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly responses: Described["responses"] };
};

describe.each(operationKeys)("the example of %s", (key) => {
  const operation: Operation = operations[key];
  const example = operationExamples[key];
  if (!example) return test("exists", () => expect.fail(`${key} has no example: ${hint}`));
  const { request, response, accepted, event } = example;

  test("has a request that the contract accepts, with all that the operation needs", () => {
    for (const part of ["params", "query", "body"] as const) {
      const schema = operation[part];
      if (schema) expect(schema.parse(request[part] ?? {})).toMatchObject(request[part] ?? {});
      else expect(request[part], `${part}: the operation has none`).toBeUndefined();
    }
    if (operation.body) expect(request.body, "body").toBeDefined();
  });

  test("has answers with declared fields only", () => {
    expect(operation.response.parse(response)).toEqual(response);
    const schemas = { accepted: operation.accepted, event: operation.events };
    for (const [name, value] of Object.entries({ accepted, event })) {
      const schema = schemas[name as keyof typeof schemas];
      const isExpected = schema && !(name === "accepted" && acceptedWithoutExample.includes(key));
      expect(value !== undefined, `${name} of ${key}`).toBe(isExpected !== undefined && isExpected !== false);
      if (schema && value !== undefined) expect(schema.parse(value)).toEqual(value);
    }
  });

  test("is in the OpenAPI document: parameters, body and success", () => {
    const { method, path } = routeOf(key);
    const described = document.paths[path]?.[method.toLowerCase()];
    const shown = Object.fromEntries(
      (described?.parameters ?? []).filter((one) => one.example !== undefined).map((one) => [one.name, one.example]),
    );
    expect(shown).toEqual({ ...request.params, ...request.query });
    expect(described?.requestBody?.content["application/json"]?.example).toEqual(request.body);
    expect(described?.responses[operation.status]?.content?.["application/json"]?.example).toEqual(response);
  });
});

test.each(errorCodes)(
  "the example of the error %s has its code and declared fields only, and is in the document",
  (code) => {
    const example = errorExamples[code];
    expect(ErrorBody.parse(example)).toEqual(example);
    expect(example?.error.code).toBe(code);
    expect(document.components.responses[code]?.content?.["application/json"]?.example).toEqual(example);
  },
);

test("every id, key and secret in the examples is made up", () => {
  const text = JSON.stringify([operationExamples, errorExamples]);
  const ids = text.match(/\b[a-z]{2,5}_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g) ?? [];
  expect(ids.length).toBeGreaterThan(100);
  expect(ids.filter((id) => !/_01kg0{15}/.test(id))).toEqual([]);
  const keys = text.match(new RegExp(keyPattern.source.replace(/[$^]/g, ""), "g")) ?? [];
  expect(keys.length).toBeGreaterThan(2);
  expect([...keys, ...(text.match(/whsec_[^"]+/g) ?? [])].filter((key) => !/_(Example)+\d{4}$/.test(key))).toEqual([]);
  expect(text).not.toMatch(/127\.0\.0\.1|localhost/);
});
