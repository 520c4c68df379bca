import { describe, expect, test } from "vitest";
import { threadMs } from "../../../test/support/thread-time.ts";
import { createShares } from "../../fairness/shares.ts";
import { ApiError } from "../../platform/api-error.ts";
import { createCheckSchema } from "./check-schema.ts";

const shares = createShares({ onRefused: () => undefined, databaseConnections: 1 });
const { check } = createCheckSchema({ processorTime: shares.of.processorTime, onWorked: () => undefined });

const organisation = "0190a1b2-0000-7000-8000-000000000001";

async function refusalOf(schema: object, value: unknown): Promise<ApiError | undefined> {
  try {
    await check(organisation, schema, value, "arguments");
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const detailsOf = async (schema: object, value: unknown) => (await refusalOf(schema, value))?.details;

/** Two to the 40th ways to fail. */
const hostile = {
  $defs: Object.fromEntries(
    Array.from({ length: 41 }, (_, i) => {
      const inner = { $ref: `#/$defs/a${i - 1}` };
      return [`a${i}`, i === 0 ? { type: "string" } : { anyOf: [inner, inner] }];
    }),
  ),
  $ref: "#/$defs/a40",
};

describe("checking what a person wrote", () => {
  test("the paths that do not fit are named, below the field", async () => {
    const schema = {
      type: "object",
      properties: {
        amount: { type: "number", maximum: 1000 },
        order: { type: "array", items: { type: "string" } },
        to: {},
      },
      required: ["amount", "to"],
      additionalProperties: false,
    };
    expect(await detailsOf(schema, { amount: 5000, order: [1], "x/y": 2 })).toEqual(
      expect.arrayContaining([
        { field: "arguments.to", error: "Required" },
        { field: "arguments.x/y", error: "Not expected here" },
        { field: "arguments.amount", error: "must be <= 1000" },
        { field: "arguments.order.0", error: "must be string" },
      ]),
    );
    expect(await refusalOf(schema, { amount: 1, to: "ACME" })).toBeUndefined();
  });

  test("a schema is of draft 2020-12, unless it says that it is older", async () => {
    const tuple = { type: "array", prefixItems: [{ type: "number" }] };
    expect(await detailsOf(tuple, ["x"])).toEqual([{ field: "arguments.0", error: "must be number" }]);
    const older = { $schema: "http://json-schema.org/draft-07/schema#", type: "array", items: [{ type: "number" }] };
    expect(await detailsOf(older, ["x"])).toEqual([{ field: "arguments.0", error: "must be number" }]);
  });

  test("a schema that takes long is given up, the event loop goes on, and the next check works", async () => {
    await refusalOf({}, {});
    const before = process.threadCpuUsage();
    const startMs = performance.now();
    const refusal = await refusalOf(hostile, {});
    const tookMs = performance.now() - startMs;
    expect(refusal).toMatchObject({ code: "invalid_request" });
    expect(refusal?.details?.[0]?.error).toContain("longer than 50 ms");
    expect(tookMs).toBeLessThan(5000);
    expect(threadMs(before)).toBeLessThan(1000);
    expect(await detailsOf({ type: "object" }, [])).toEqual([{ field: "arguments", error: "must be object" }]);
  });

  test("a pattern is never evaluated, not even one that would take hours, and does not decide", async () => {
    const slow = "^(a+)+$";
    const value = { text: `${"a".repeat(60)}!`, [`${"a".repeat(60)}!`]: 1 };
    const schema = {
      type: "object",
      properties: { text: { type: "string", pattern: slow, format: "uuid" } },
      patternProperties: { [slow]: { type: "string" } },
      additionalProperties: false,
    };
    expect(await refusalOf(schema, value)).toBeUndefined();
    expect(await detailsOf({ propertyNames: { pattern: slow }, required: ["x"] }, value)).toEqual([
      { field: "arguments.x", error: "Required" },
    ]);
  });

  test("a property may be called pattern", async () => {
    const schema = { type: "object", properties: { pattern: { type: "string" }, $async: { type: "string" } } };
    expect(await detailsOf(schema, { pattern: 1 })).toEqual([{ field: "arguments.pattern", error: "must be string" }]);
  });

  test("nothing is fetched, and a schema that cannot be used says why", async () => {
    const refusal = await refusalOf({ $ref: "https://schemas.example/money.json" }, {});
    expect(refusal?.details?.[0]?.error).toContain("can't resolve reference");
    expect((await refusalOf({ type: "money" }, {}))?.details?.[0]?.error).toContain("cannot be used");
  });

  test("a schema cannot turn the check off by being asynchronous", async () => {
    expect(await detailsOf({ $async: true, type: "object" }, [])).toHaveLength(1);
    expect(await detailsOf({ $defs: { a: { $async: true, type: "string" } }, $ref: "#/$defs/a" }, 1)).toHaveLength(1);
  });

  test("schemas do not see each other, even with the same name", async () => {
    const named = (type: string) => ({ $id: "https://schemas.example/same", type });
    expect(await detailsOf(named("string"), 1)).toHaveLength(1);
    expect(await refusalOf(named("number"), 1)).toBeUndefined();
    expect((await refusalOf({ $ref: "https://schemas.example/same" }, 1))?.details).toHaveLength(1);
  });

  test("what is too large is refused before it is checked", async () => {
    expect((await refusalOf({}, "x".repeat(300_000)))?.details?.[0]?.error).toContain("at most");
    expect((await refusalOf({ description: "x".repeat(300_000) }, 1))?.details?.[0]?.error).toContain("longer than");
  });

  test("an organisation that sends such schemas without end does not keep others from checking", async () => {
    const other = "0190a1b2-0000-7000-8000-000000000002";
    const attempts = Array.from({ length: 100 }, () => refusalOf(hostile, {}));
    await expect(check(other, { type: "number" }, 1, "answer")).resolves.toBeUndefined();
    const codes = (await Promise.all(attempts)).map((error) => error?.code);
    expect(codes).toContain("rate_limited");
  }, 60_000);
});
