import { verifies } from "@perch/testkit/verifies.ts";
import { afterEach, describe, expect, test } from "vitest";
import { deprecationHeaders, isAnnouncedInTime } from "../src/deprecation.ts";
import { type Operation, openApiDocument, operationKeys, operations } from "../src/index.ts";

const me = operations["GET /v1/me"] as Operation & { deprecated?: Operation["deprecated"] };
afterEach(() => delete me.deprecated);

describe("an operation that will go", () => {
  test("every one that is announced is announced for 12 months at least", () => {
    verifies("versioning.deprecation-headers");
    const deprecated = operationKeys.flatMap((key) => {
      const { deprecated: notice }: Operation = operations[key];
      return notice ? [{ key, ...notice }] : [];
    });
    expect(deprecated.filter((notice) => !isAnnouncedInTime(notice))).toEqual([]);
  });

  test.each([
    ["2026-01-31", "2027-01-31", true],
    ["2026-01-31", "2027-01-30", false],
    ["2026-01-31", "2026-01-31", false],
    ["2026-06-01", "2026-12-01", false],
    ["2026-06-01", "2029-01-01", true],
    // A year later there is no such day: the notice lasts to the next one.
    ["2028-02-29", "2029-02-28", false],
    ["2028-02-29", "2029-03-01", true],
  ])("deprecated on %s, gone on %s: in time is %j", (since, sunset, isInTime) => {
    expect(isAnnouncedInTime({ since, sunset })).toBe(isInTime);
  });

  test("a day that is none is a mistake of ours", () => {
    expect(() => isAnnouncedInTime({ since: "soon", sunset: "2027-01-01" })).toThrow("soon is no day");
    expect(() => isAnnouncedInTime({ since: "2026-13-01", sunset: "2027-01-01" })).toThrow("2026-13-01 is no day");
  });

  test("sends the headers of RFC 9745 and RFC 8594", () => {
    const route = { tag: "API keys", method: "GET", path: "/v1/keys/{key_id}" };
    expect(deprecationHeaders({ since: "2026-01-01", sunset: "2027-06-30" }, route)).toEqual({
      deprecation: "@1767225600",
      sunset: "Wed, 30 Jun 2027 00:00:00 GMT",
      link: '</docs#tag/api-keys/GET/v1/keys/%7Bkey_id%7D>; rel="deprecation"; type="text/html"',
    });
  });

  test("is marked in the document, with its days, what replaces it, and its headers", () => {
    const find = () =>
      (openApiDocument("1") as { paths: Record<string, Record<string, Record<string, unknown>>> }).paths["/v1/me"]?.get;
    expect(find()).not.toHaveProperty("deprecated");
    me.deprecated = { since: "2026-01-01", sunset: "2027-06-30", use: "Use GET /v1/keys." };
    expect(find()).toMatchObject({
      deprecated: true,
      description: expect.stringContaining(
        "Deprecated since 2026-01-01, and gone from 2027-06-30 on. Use GET /v1/keys.",
      ),
      responses: { 200: { headers: { Deprecation: {}, Sunset: {}, Link: {} } } },
    });
  });
});
