import type { Approval } from "@perch/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { approvalQuery } from "../../../api/approvals-queries.ts";
import { perch } from "../../../api/perch.ts";

export type Decision =
  | { readonly verdict: "approve"; readonly arguments?: Readonly<Record<string, unknown>> }
  | { readonly verdict: "reject"; readonly reason: string }
  | { readonly verdict: "answer"; readonly answer: unknown };

/** Approving names the digest of the arguments that the approver has seen, so that later changes are not approved unseen. */
function send({ id, digest }: Approval, decision: Decision, code: string): Promise<Approval> {
  const options = { ...(code !== "" && { headers: { "x-mfa-code": code } }) };
  switch (decision.verdict) {
    case "approve":
      return perch.approvals.approve(
        id,
        { digest, ...(decision.arguments && { arguments: decision.arguments }) },
        options,
      );
    case "reject":
      return perch.approvals.reject(id, { ...(decision.reason !== "" && { reason: decision.reason }) }, options);
    case "answer":
      return perch.approvals.answer(id, { answer: decision.answer }, options);
  }
}

/**
 * Sends the decision and refreshes every page that shows the approval. It refreshes after a refusal too, because the shown state is out of
 * date.
 */
export function useDecide(approval: Approval): (decision: Decision, code: string) => Promise<Approval> {
  const client = useQueryClient();
  const { queryKey } = approvalQuery(approval.id);
  return async (decision, code) => {
    try {
      const decided = await send(approval, decision, code);
      client.setQueryData(queryKey, decided);
      return decided;
    } catch (error) {
      await client.invalidateQueries({ queryKey });
      throw error;
    } finally {
      for (const part of ["newest", "open", "run"]) void client.invalidateQueries({ queryKey: ["approvals", part] });
    }
  };
}
