import { createCheckSchema } from "../resources/approvals/check-schema.ts";
import { createDecideApproval } from "../resources/approvals/decide-approval.ts";
import { createDecideByLink } from "../resources/approvals/decide-by-link.ts";
import { createConsentByLink } from "../resources/connections/consent-by-link.ts";
import { createRegistrations } from "../resources/connections/registrations.ts";
import { createRevokeAtProvider } from "../resources/connections/revoke-at-provider.ts";
import type { ContinueRuns } from "../resources/waiting-runs/continue-runs.ts";
import { type Core, depsOf } from "./core.ts";

/** How people decide approvals and consent to connections: with a key, or by a link. */
export function composeDecisions(core: Core, continueRuns: Pick<ContinueRuns, "start">) {
  const deps = depsOf(core);
  const { check: checkSchema } = createCheckSchema({
    processorTime: core.shares.of.processorTime,
    onWorked: core.telemetry.worked,
  });
  const decideApproval = createDecideApproval(deps);
  const now = () => new Date(core.nowMs());
  return {
    /** The dependencies of the handlers. */
    deps: {
      checkSchema,
      decideApproval,
      registrationsOf: createRegistrations(deps),
      revokeAtProvider: createRevokeAtProvider(deps),
    },
    decideByLink: createDecideByLink({ ...deps, decideApproval, checkSchema, continueRuns, now }),
    consentByLink: createConsentByLink(deps),
  };
}
