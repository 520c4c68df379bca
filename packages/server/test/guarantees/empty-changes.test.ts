import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Operation, type OperationKey, operationKeys, operations } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { parsePublicId } from "../../src/platform/ids.ts";
import { buildRequest, ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createOrganisationWithSample } from "../support/operation-samples.ts";

const perch = usePerch({}, { withWorker: true });

type Parts = Parameters<typeof buildRequest>[1];

async function send({ adminKey }: Organisation, key: OperationKey, parts: Parts, headers: Record<string, string> = {}) {
  const { path, init } = buildRequest(key, parts);
  const response = await fetch(perch().url + path, {
    ...init,
    headers: { ...(init.headers as object), authorization: `Bearer ${adminKey}`, ...headers },
  });
  return {
    status: response.status,
    etag: response.headers.get("etag"),
    headers: response.headers,
    body: await response.json(),
  };
}

/** The records that a change leaves behind, beside the change itself. */
async function tracesOf({ id, call }: Organisation) {
  const { epoch } = await perch().server.core.shared.gate.pass(parsePublicId("organisation", id) ?? id, []);
  return { epoch: epoch.value, entries: ok(await call("GET /v1/audit-log", { query: { limit: 100 } })).data.length };
}

const patches = operationKeys.filter((key) => key.startsWith("PATCH "));
/** A secret that is given again is not compared with the stored one. */
const givesSecret = (body: unknown): boolean => "value" in (body as object) || "api_key" in (body as object);

test("every PATCH is looked at", () => {
  expect(patches).toHaveLength(8);
});

describe.each(patches)("%s", (key) => {
  test("that changes nothing leaves no trace: not in the resource, its tag, the epoch or the audit log", async () => {
    verifies("changes.nothing");
    const { organisation, first, otherBody } = await createOrganisationWithSample(perch(), key);
    const { params, body } = first as Parts;
    const done = await send(organisation, key, first);
    expect(done.status).toBe(200);
    const { body: schema }: Operation = operations[key];
    const idle = [...(schema?.safeParse({}).success ? [{}] : []), ...(givesSecret(body) ? [] : [body])];
    expect(idle.length).toBeGreaterThan(0);
    const sendNothing = async (nothing: unknown): Promise<void> => {
      const parts = { params: params ?? {}, body: nothing };
      expect(await send(organisation, key, parts)).toMatchObject({ status: 200, etag: done.etag, body: done.body });
      const retry = { "idempotency-key": randomUUID() };
      const answers = await Promise.all([0, 1].map(() => send(organisation, key, parts, retry)));
      expect(answers.map((answer) => answer.body)).toEqual([done.body, done.body]);
      expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(1);
    };
    // More than once, because the repair of epochs may replace that of an earlier change once more.
    const leavesTraces = async (): Promise<boolean> => {
      const before = await tracesOf(organisation);
      for (const nothing of idle) await sendNothing(nothing);
      return !isDeepStrictEqual(await tracesOf(organisation), before);
    };
    await expect.poll(leavesTraces, { timeout: 20_000 }).toBe(false);
    // The API turns the organisation's switch in one direction only, so there is no second change.
    if (key === "PATCH /v1/organisation") return;
    const before = await tracesOf(organisation);
    const other = { params: params ?? {}, body: otherBody };
    expect((await send(organisation, key, other)).status).toBe(200);
    const after = await tracesOf(organisation);
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.entries).toBe(before.entries + 1);
  });
});
