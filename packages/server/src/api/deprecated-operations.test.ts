import { type Operation, operations } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { usePerch } from "../../test/support/harness.ts";

// Before the server starts: it binds the table as it is then.
const me = operations["GET /v1/me"] as Operation & { deprecated?: Operation["deprecated"] };
me.deprecated = { since: "2026-01-01", sunset: "2027-06-30", use: "Use GET /v1/keys." };
const perch = usePerch();

const get = async (path: string, key: string) => {
  const response = await fetch(perch().url + path, { headers: { authorization: `Bearer ${key}` } });
  const { headers, status } = response;
  return { status, shown: ["deprecation", "sunset", "link"].map((name) => headers.get(name)) };
};

describe("a deprecated operation", () => {
  test("announces its end with every answer, also with a refusal; no other operation does", async () => {
    verifies("versioning.deprecation-headers");
    const { adminKey } = await perch().createOrganisation();
    const notice = [
      "@1767225600",
      "Wed, 30 Jun 2027 00:00:00 GMT",
      '</docs#tag/api-keys/GET/v1/me>; rel="deprecation"; type="text/html"',
    ];
    expect(await get("/v1/me", adminKey)).toEqual({ status: 200, shown: notice });
    expect(await get("/v1/me?colour=red", adminKey)).toEqual({ status: 400, shown: notice });
    expect(await get("/v1/me", "perch_wrong")).toEqual({ status: 401, shown: notice });
    expect(await get("/v1/agents", adminKey)).toEqual({ status: 200, shown: [null, null, null] });
  });
});
