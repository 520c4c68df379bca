import { type Operation, operationKeys, operations } from "@perch/contract";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { hasMoreValues } from "../../src/api/count-json-values.ts";
import { boundsOf, maxEntriesOf, maxItemsOf } from "../../src/api/judge-bounds.ts";
import { createParseInput } from "../../src/api/parse-input.ts";
import { ApiError } from "../../src/platform/api-error.ts";
import { usePerch } from "../support/harness.ts";
import { leastThreadMsOf, slowness, threadMsOf } from "../support/thread-time.ts";

const perch = usePerch({ unauthenticatedRequestsPerMinute: 1_000_000 });

const maxGrowthBytes = 64 * 1024 * 1024;
/** Nearly as many values as a body may have, of each kind. */
const count = 19_000;
const numbers = Array.from({ length: count }, () => 0);
const junk: Readonly<Record<string, unknown>> = {
  "a list of numbers": numbers,
  "a list of objects": Array.from({ length: count / 2 }, () => ({})),
  "a list of texts": Array.from({ length: count }, () => "x".repeat(40)),
  "a map of numbers": Object.fromEntries(numbers.map((value, index) => [`a${index}`, value])),
  "a text": "x".repeat(1024 * 1024),
};

const maxCpuMs = 50 * slowness();

type Schema = z.core.$ZodTypes;
const inside = (schema: z.core.$ZodType): Schema => {
  const { def } = (schema as Schema)._zod;
  if (def.type === "pipe") return inside(def.in);
  return "innerType" in def ? inside(def.innerType) : (schema as Schema);
};

const sampleOf = (field: z.core.$ZodType): unknown => {
  const { def } = inside(field)._zod;
  return def.type === "literal" ? def.values[0] : undefined;
};

/** Values of a schema with junk in each place in turn: in each field, list, map and option. */
function* withJunk(schema: z.core.$ZodType, value: unknown): Generator<unknown> {
  yield value;
  const { def } = inside(schema)._zod;
  if (def.type === "array") for (const item of withJunk(def.element, value)) yield [item];
  if (def.type === "record") for (const item of withJunk(def.valueType, value)) yield { a: item };
  if (def.type === "union") for (const option of def.options) yield* withJunk(option, value);
  if (def.type !== "object") return;
  const fields = Object.entries(def.shape);
  const samples = Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field)]));
  for (const [name, field] of fields) for (const item of withJunk(field, value)) yield { ...samples, [name]: item };
}

/** All lists and maps of a schema. */
function* containersIn(schema: z.core.$ZodType): Generator<Schema> {
  const inner = inside(schema);
  const { def } = inner._zod;
  if (def.type === "array" || def.type === "record") yield inner;
  if (def.type === "array") yield* containersIn(def.element);
  if (def.type === "record") yield* containersIn(def.valueType);
  if (def.type === "union") for (const option of def.options) yield* containersIn(option);
  if (def.type === "object") for (const field of Object.values(def.shape)) yield* containersIn(field);
}

const withBody = operationKeys.flatMap((key) => {
  const operation: Operation = operations[key];
  return operation.body ? [{ key, operation, body: operation.body }] : [];
});

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

describe("a body within the limit of values", () => {
  test("has a bound for each of its lists and maps, which is judged before their elements", () => {
    let found = 0;
    for (const { key, body } of withBody)
      for (const container of containersIn(body)) {
        found += 1;
        expect(maxItemsOf(container) ?? maxEntriesOf(container), `${key}: a list or map has no bound`).toBeDefined();
      }
    expect(found).toBeGreaterThan(20);
    expect(withBody.filter(({ body }) => boundsOf(body)).length).toBeGreaterThan(5);
  });

  const isFullTier = process.env.TEST_TIER !== "required";
  test.each(withBody)("costs little wherever its junk is: $key", ({ operation, body }) => {
    const parse = createParseInput(operation);
    for (const [name, value] of Object.entries(junk)) {
      const bodies = [...withJunk(body, value)].filter((each) => typeof each === "object");
      // Beginning at another place for each kind of junk.
      const chosen = isFullTier ? bodies : bodies.filter((_, index) => index % 7 === name.length % 7);
      for (const each of chosen) {
        const attempt = () => {
          try {
            parse({ params: {}, query: {}, body: each });
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
            expect((error as ApiError).details?.length).toBeLessThanOrEqual(20);
          }
        };
        // Most places cost next to nothing, and need no second look.
        const once = threadMsOf(attempt);
        const cost = once < maxCpuMs / 2 ? once : leastThreadMsOf(attempt);
        expect(cost, `${name} in ${JSON.stringify(each).slice(0, 120)}`).toBeLessThan(maxCpuMs);
      }
    }
  });
});

describe("1 MiB of junk", () => {
  const text = (length: number, item: string, [open, close]: string) =>
    `${open}${Array.from({ length }, (_, index) => item.replace("#", String(index))).join()}${close}`;
  const bodies = {
    "a list": `{"permissions":${text(500_000, "0", "[]")}}`,
    "a map": `{"name":${text(80_000, '"a#":0', "{}")}}`,
    "lists in lists": `{"name":${"[".repeat(500_000)}${"]".repeat(500_000)}}`,
  };

  test.each(Object.entries(bodies))(
    "%s is refused before it is parsed, for little more than it costs to receive, and the memory of the process stays",
    async (_, junkBody) => {
      const { adminKey } = await perch().createOrganisation();
      const costOf = async (body: string, status: number): Promise<number> => {
        const costs: number[] = [];
        for (let i = 0; i < 6; i++) {
          const before = process.cpuUsage();
          const response = await fetch(`${perch().url}/v1/keys`, {
            method: "POST",
            headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
            body,
          });
          const { user, system } = process.cpuUsage(before);
          costs.push((user + system) / 1000);
          expect(response.status).toBe(status);
          await response.text();
        }
        return median(costs);
      };
      expect(leastThreadMsOf(() => void hasMoreValues(junkBody, 20_000))).toBeLessThan(maxCpuMs);
      // One text of the same size. The client is in this process, and so is the garbage of the tests before.
      const plain = await costOf(`{"name":"${"x".repeat(junkBody.length - 12)}"}`, 400);
      const { rss } = process.memoryUsage();
      expect((await costOf(junkBody, 413)) - plain).toBeLessThan(3 * maxCpuMs);
      expect(process.memoryUsage().rss - rss).toBeLessThan(maxGrowthBytes);
    },
  );

  test("is too large for an operation without a key, which reads 4 KiB", async () => {
    for (const path of ["/v1/keys/revoke-leaked", "/v1/console/sessions"]) {
      const response = await fetch(`${perch().url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ key: "x".repeat(5000) }),
      });
      expect(response.status).toBe(413);
      expect(((await response.json()) as { error: { message: string } }).error.message).toContain("4 KiB");
    }
  });
});

test.each(["/openapi.json", "/docs/openapi.json"])(
  "%s is made once, compressed, and not sent again to those who have it",
  async (path) => {
    const url = `${perch().url}${path}`;
    const first = await fetch(url, { headers: { "accept-encoding": "br" } });
    expect(first.headers.get("content-encoding")).toBe("br");
    await first.text();
    const before = process.cpuUsage();
    const etag = first.headers.get("etag") ?? "";
    for (let i = 0; i < 50; i++) {
      const again = await fetch(url, { headers: { "accept-encoding": "br", "if-none-match": etag } });
      expect(again.status).toBe(304);
    }
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000 / 50).toBeLessThan(10);
  },
);
