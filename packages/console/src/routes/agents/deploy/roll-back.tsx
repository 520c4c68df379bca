import type { Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deploymentsQuery } from "../../../api/deployments-queries.ts";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { useAgentChanged } from "../use-agent-changed.ts";
import { canaryEnds } from "./outcome-sentence.ts";
import { rollBackTarget } from "./roll-back-target.ts";

interface RollBackProps {
  readonly agent: string;
  readonly live: Deployment;
  readonly canary: Deployment | undefined;
}

/** One button with one sentence that says what will be live. It names that deployment to the server, so nothing else can come of it. */
export function RollBack({ agent, live, canary }: RollBackProps) {
  const [isOpen, setIsOpen] = useState(false);
  const { data: deployments = [] } = useQuery(deploymentsQuery(agent));
  const changed = useAgentChanged();
  const target = rollBackTarget(deployments, live);
  if (!target) return null;
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Roll back {live.environment}</Button>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
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
