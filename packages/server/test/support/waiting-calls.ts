import type { AgentDefinitionPatch } from "@perch/contract";
import { ok } from "./contract-client.ts";
import type { Organisation, Perch } from "./harness.ts";

/** An HTTP tool that a person must approve. */
export const refundTool = (url: string): NonNullable<AgentDefinitionPatch["tools"]>[number] => ({
  type: "http",
  name: "refund",
  description: "Pays money back.",
  method: "POST",
  url,
  parameters: { type: "object" },
  approval: "always",
});

/** A model's reply that calls the tool. */
export const callRefund = (amount: number) => ({
  reply: "I ask.",
  tool_calls: [{ name: "refund", arguments: { amount } }],
});

export interface AskingOrganisation extends Organisation {
  /** A key that decides, and has started nothing. */
  readonly approverKey: string;
  readonly approve: (approvalId: string) => Promise<void>;
}

/** An organisation whose agent `bot` asks the script server, and has this tool. */
export async function createOrganisationThatAsks(
  perch: Perch,
  toolUrl: string,
  definition: Partial<AgentDefinitionPatch> = {},
): Promise<AskingOrganisation> {
  const organisation = await perch.createOrganisation();
  const body = { name: "bot", model: "perch/script", tools: [refundTool(toolUrl)], ...definition };
  ok(await organisation.call("POST /v1/agents", { body }));
  const approverKey = await organisation.createKey({ permissions: ["read", "approve"] });
  return {
    ...organisation,
    approverKey,
    approve: async (approval_id) => {
      const key = "POST /v1/approvals/{approval_id}/approve";
      ok(await organisation.call(key, { params: { approval_id }, body: {} }, approverKey));
    },
  };
}
