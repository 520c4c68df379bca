import type { Deployment } from "@perch/sdk";
import { useState } from "react";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { useAgentChanged } from "../use-agent-changed.ts";

interface CanaryActionsProps {
  readonly agent: string;
  readonly canary: Deployment;
  readonly live: Deployment | undefined;
}

/** A canary ends in one of two ways: it becomes the live version, or it gets no more requests. */
export function CanaryActions({ agent, canary, live }: CanaryActionsProps) {
  const [open, setOpen] = useState<"promote" | "abort">();
  const changed = useAgentChanged();
  const close = () => setOpen(undefined);
  const { environment, version } = canary;
  return (
    <>
      <Button onClick={() => setOpen("promote")}>Promote canary</Button>
      <Button onClick={() => setOpen("abort")}>Abort canary</Button>
      <ConfirmDialog
        open={open === "promote"}
        onClose={close}
        title={`Promote ${version} in ${environment}`}
        description={`${version} will get all requests in ${environment} from the next one on${live ? `, in place of ${live.version}` : ""}.`}
        action={`Promote ${version}`}
        onConfirm={async () => {
          await perch.deployments.promote(agent, canary.id);
          await changed();
        }}
      />
      <ConfirmDialog
        open={open === "abort"}
        onClose={close}
        title={`Abort ${version} in ${environment}`}
        description={`${version} will get no more requests in ${environment}${live ? `; ${live.version} gets all of them` : ""}.`}
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
