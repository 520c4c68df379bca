import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  followRunStream,
  invokeStreaming,
  joinTokens,
  type StreamEvent,
} from "../../../test/support/event-stream-client.ts";
import { type ApiNode, usePerch } from "../../../test/support/harness.ts";
import {
  type AskingOrganisation,
  callRefund,
  createOrganisationThatAsks,
} from "../../../test/support/waiting-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";

/** A message begins with how often the model asks for money before it is done. */
const script = await startScriptServer((call) => {
  const asks = Number(lastUserMessage(call).split(" ")[0]);
  return call.step <= asks ? callRefund(call.step) : { reply: `done after ${asks}` };
});
afterAll(() => script.close());
const tool = await startToolServer();
afterAll(() => tool.close());

const perch = usePerch(
  {
    scriptModelUrl: script.url,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
  },
  { withWorker: true },
);
let other: ApiNode;
beforeAll(async () => {
  other = await perch().addApiNode();
});

const approvalOf = (event: StreamEvent | undefined): string =>
  (event?.data.approvals as { readonly id: string }[] | undefined)?.[0]?.id ?? "";
const namesOf = (events: readonly StreamEvent[]) => events.map(({ event }) => event);

async function startStream(message: string) {
  const organisation = await createOrganisationThatAsks(perch(), tool.url);
  const stream = await invokeStreaming(perch(), organisation.adminKey, { message });
  const location = stream.headers.get("location") ?? "";
  return { organisation, location, events: await stream.readAll() };
}
const followAt = async ({ adminKey }: AskingOrganisation, location: string, lastEventId?: string) =>
  (await followRunStream(other, adminKey, location, lastEventId)).readAll();

describe("the stream of a run that waits for a person", () => {
  test("ends with what the run waits for, also when it is followed again, and goes on after the decision", async () => {
    verifies("approvals.invoke");
    const { organisation, location, events } = await startStream("1 followed");
    const required = events.at(-1);
    const request_id = location.split("/").at(-1);
    expect(required).toMatchObject({
      event: "action_required",
      data: { request_id, approvals: [{ kind: "tool", tool: "refund", step: 1, call: 1 }] },
    });
    expect(required?.data.message).toContain(`/v1/approvals/${approvalOf(required)}`);
    expect(joinTokens(events)).toBe("I ask.");
    const again = await followAt(organisation, location, required?.id);
    expect(again.map(({ id, event, data }) => ({ id, event, data }))).toEqual([
      { id: required?.id, event: "action_required", data: required?.data },
    ]);
    await organisation.approve(approvalOf(required));
    const rest = await followAt(organisation, location, required?.id);
    expect(rest.at(-1)).toMatchObject({ event: "done", data: { request_id, response: "done after 1" } });
    expect(rest.filter(({ event }) => event === "tool").map(({ data }) => data.status)).toEqual([
      "started",
      "completed",
    ]);
    expect(joinTokens(rest)).toBe("done after 1");
    // Earlier events are not sent again, and all of them are there from the beginning.
    const whole = await followAt(organisation, location);
    expect(namesOf(whole)).toEqual(namesOf([...events.slice(0, -1), ...rest]));
  });

  test("a stream that expired in the meantime goes on, however often the run waits", async () => {
    const { organisation, location, events } = await startStream("3 expired");
    const runId = parsePublicId("request", location.split("/").at(-1) ?? "") ?? "";
    let last = events.at(-1);
    for (let round = 1; round <= 3; round++) {
      expect([last?.event, approvalOf(last)]).toEqual(["action_required", expect.stringMatching(/^appr_/)]);
      // In the first round the stream is there, in the second it expires after the client has left, in the third before it comes.
      if (round > 1) await perch().server.core.shared.streams.delete([runId]);
      if (round === 3) last = (await followAt(organisation, location, last?.id)).at(-1);
      await organisation.approve(approvalOf(last));
      const rest = await followAt(organisation, location, last?.id);
      expect(rest.filter(({ event }) => event === "tool").map(({ data }) => [data.step, data.status])).toEqual([
        [round, "started"],
        [round, "completed"],
      ]);
      last = rest.at(-1);
    }
    expect(last).toMatchObject({ event: "done", data: { response: "done after 3" } });
  });

  test("an invoke with the same Idempotency-Key goes on after the last event, too", async () => {
    const organisation = await createOrganisationThatAsks(perch(), tool.url);
    const invoke = async (lastEventId?: string) => {
      const headers = { "idempotency-key": "k", "last-event-id": lastEventId };
      return (await invokeStreaming(perch(), organisation.adminKey, { message: "1 keyed" }, { headers })).readAll();
    };
    const first = (await invoke()).at(-1);
    expect(await invoke(first?.id)).toMatchObject([{ id: first?.id, event: "action_required" }]);
    await organisation.approve(approvalOf(first));
    const rest = await invoke(first?.id);
    expect([joinTokens(rest), rest.at(-1)?.event]).toEqual(["done after 1", "done"]);
    expect(namesOf(rest)).not.toContain("action_required");
  });
});
