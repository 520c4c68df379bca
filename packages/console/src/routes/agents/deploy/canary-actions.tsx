import type { Deployment } from "@perch/sdk";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { useAgentChanged } from "../use-agent-changed.ts";
import { useAsked } from "./use-asked.ts";

interface CanaryActionsProps {
  readonly agent: string;
  readonly canary: Deployment;
  readonly live: Deployment | undefined;
}

/** A canary ends in one of two ways: it becomes the live version, or it stops getting requests. */
export function CanaryActions({ agent, canary, live }: CanaryActionsProps) {
  const promotion = useAsked(live);
  const ending = useAsked(live);
  const changed = useAgentChanged();
  const { environment, version } = canary;
  return (
    <>
      <Button onClick={promotion.open}>Promote canary</Button>
      <Button onClick={ending.open}>Abort canary</Button>
      <ConfirmDialog
        open={promotion.isOpen}
        onClose={promotion.close}
        title={`Promote ${version} in ${environment}`}
        description={`${version} will get all requests in ${environment} from the next one on${promotion.about ? `, in place of ${promotion.about.version}` : ""}.`}
        action={`Promote ${version}`}
        onConfirm={async () => {
          await perch.deployments.promote(agent, canary.id);
          await changed();
        }}
      />
      <ConfirmDialog
        open={ending.isOpen}
        onClose={ending.close}
        title={`Abort ${version} in ${environment}`}
        description={`${version} will get no more requests in ${environment}${ending.about ? `; ${ending.about.version} gets all of them` : ""}.`}
        action={`Abort ${version}`}
        kind="danger"
        onConfirm={async () => {
          await perch.deployments.abort(agent, canary.id);
          await changed();
        }}
      />
    </>
  );
}
