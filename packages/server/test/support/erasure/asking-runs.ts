import { newUuid } from "../../../src/platform/ids.ts";
import { ok } from "../contract-client.ts";
import { waitForApprovals } from "../decisions.ts";
import type { Organisation, Perch } from "../harness.ts";
import { invokeInBackground } from "../invoke-calls.ts";
import type { MarkedUser } from "./mixed-runs.ts";

/** Asks a person before it answers. */
export const createAsker = async ({ call }: Organisation) =>
  ok(
    await call("POST /v1/agents", {
      body: {
        name: "asker",
        model: "perch/script",
        logs: "full",
        tools: [{ type: "ask_person", name: "ask_person", description: "When unsure.", answer: { type: "string" } }],
      },
    }),
  );

/** Returns the run, and the approval that it waits for. */
export async function ask(perch: Perch, organisation: Organisation, { id, word }: MarkedUser) {
  const context = { user_id: id, session_id: `ask-${newUuid()}-${word}` };
  const body = { message: `ask ${word}`, context };
  const run = await invokeInBackground(perch, organisation.adminKey, body, { agent: "asker" });
  const [approval] = await waitForApprovals(perch, organisation, run);
  return { run, approval: approval?.id ?? "" };
}

export const readRun = async ({ call }: Organisation, request_id: string) =>
  ok(
    await call("GET /v1/agents/{agent_id}/invocations/{request_id}", {
      params: { agent_id: "asker", request_id },
    }),
  ).data;
