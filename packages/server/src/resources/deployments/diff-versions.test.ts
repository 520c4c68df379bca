import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { createOrganisationWithVersions, setDraftReply } from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });
const operation = "GET /v1/agents/{agent_id}/versions/{version}/diff";
const diff = ({ call }: Organisation, version: string, query: { to?: string } = {}) =>
  call(operation, { params: { agent_id: "bot", version }, query });
const script = (reply: string) => JSON.stringify({ steps: [{ reply }] });

describe(operation, () => {
  test("shows the changes from one version to another, field by field and as text", async () => {
    verifies("version.diff");
    const organisation = await createOrganisationWithVersions(perch(), ["v1", "v2"]);
    const there = ok(await diff(organisation, "v1", { to: "v2" })).data;
    expect(there).toMatchObject({
      from: "v1",
      to: "v2",
      same: false,
      changes: [{ path: "instructions", from: script("v1"), to: script("v2") }],
    });
    expect(there.text).toMatch(/^--- v1/m);
    expect(there.text).toMatch(/^\+\+\+ v2/m);
    expect(there.text).toMatch(/^-.*v1/m);
    const back = ok(await diff(organisation, "v2", { to: "v1" })).data;
    expect(back.changes).toEqual([{ path: "instructions", from: script("v2"), to: script("v1") }]);
  });

  test("compares with the draft by default", async () => {
    verifies("version.diff");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    expect(ok(await diff(organisation, "v1")).data).toEqual({
      from: "v1",
      to: "draft",
      same: true,
      changes: [],
      text: "",
    });
    await setDraftReply(organisation, "next");
    expect(ok(await diff(organisation, "v1")).data.changes).toEqual([
      { path: "instructions", from: script("v1"), to: script("next") },
    ]);
    expect(ok(await diff(organisation, "draft", { to: "v1" })).data).toMatchObject({ from: "draft", to: "v1" });
  });

  test("404 for an unknown version, on either side", async () => {
    verifies("version.diff");
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    for (const [version, to] of [
      ["v9", "v1"],
      ["v1", "v9"],
    ] as const)
      expect(expectError(await diff(organisation, version, { to })).status).toBe(404);
  });

  test("400 for a text that cannot be stored, and an unknown parameter", async () => {
    const organisation = await createOrganisationWithVersions(perch(), ["v1"]);
    expect(expectError(await diff(organisation, "v1", { to: "\0" })).status).toBe(400);
    expect(expectError(await diff(organisation, "v1", { from: "v2" } as never)).status).toBe(400);
  });
});
