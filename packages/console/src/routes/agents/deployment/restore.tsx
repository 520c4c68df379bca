import type { Deployment } from "@perch/sdk";
import { useNavigate } from "@tanstack/react-router";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { canaryEnds } from "../deploy/outcome-sentence.ts";
import { useAsked } from "../deploy/use-asked.ts";
import { useAgentChanged } from "../use-agent-changed.ts";

interface RestoreProps {
  readonly agent: string;
  readonly past: Deployment;
  readonly live: Deployment;
  readonly canary: Deployment | undefined;
}

/** Rolls an environment back to a deployment that was live before, and opens the new one. */
export function Restore({ agent, past, ...served }: RestoreProps) {
  const asked = useAsked(served);
  const { live, canary } = asked.about;
  const changed = useAgentChanged();
  const navigate = useNavigate();
  const { version, environment } = past;
  const what = `Roll back ${environment} to ${version}`;
  return (
    <>
      <Button onClick={asked.open}>{what}</Button>
      <ConfirmDialog
        open={asked.isOpen}
        onClose={asked.close}
        title={what}
        description={`${version} will be live in ${environment} with the next request, in place of ${live.version}${canaryEnds(canary)}.`}
        action={what}
        onConfirm={async () => {
          const { id } = await perch.deployments.rollback(agent, past.id);
          await changed();
          await navigate({ to: "/agents/$agent/deployments/$deployment", params: { agent, deployment: id } });
        }}
      />
    </>
  );
}
