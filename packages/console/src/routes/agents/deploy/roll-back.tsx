import type { Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { replacedDeploymentsQuery } from "../../../api/deployments-queries.ts";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { useAgentChanged } from "../use-agent-changed.ts";
import { canaryEnds } from "./outcome-sentence.ts";
import { rollBackTarget } from "./roll-back-target.ts";
import { useAsked } from "./use-asked.ts";

interface RollBackProps {
  readonly agent: string;
  readonly live: Deployment;
  readonly canary: Deployment | undefined;
}

/** One button with one sentence that says what will be live. It names that deployment to the server, so nothing else can come of it. */
export function RollBack({ agent, ...served }: RollBackProps) {
  const { data: replaced = [] } = useQuery(replacedDeploymentsQuery(agent, served.live));
  const changed = useAgentChanged();
  const asked = useAsked({ ...served, target: rollBackTarget(replaced, served.live) });
  const { live, canary, target } = asked.about;
  if (!target) return null;
  return (
    <>
      <Button onClick={asked.open}>Roll back {live.environment}</Button>
      <ConfirmDialog
        open={asked.isOpen}
        onClose={asked.close}
        title={`Roll back ${live.environment}`}
        description={`${target.version} will be live in ${live.environment} with the next request, in place of ${live.version}${canaryEnds(canary)}.`}
        action={`Roll back ${live.environment} to ${target.version}`}
        onConfirm={async () => {
          await perch.deployments.rollback(agent, target.id);
          await changed();
        }}
      />
    </>
  );
}
