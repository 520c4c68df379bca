import type { OperationKey } from "../../../packages/contract/src/index.ts";

/** Operations that programs use and people do not, with the reason. */
export const notForPeople: { readonly [K in OperationKey]?: string } = {
  "POST /v1/agents/{agent_id}/logs": "Remote agents and tools add their own entries.",
  "POST /v1/agents/{agent_id}/connections/{connection_id}/confirm":
    "The application of the user confirms, for its own user.",
  "POST /v1/console/links": "`perch console` makes a link for a browser; a session cannot make another one.",
  "POST /v1/keys/revoke-leaked": "For a finder of a leaked key, who has no account here. Owners revoke it on its page.",
  "POST /v1/mfa/step-up": "A token that scripts send instead of a code. The console asks for the code itself.",
};
