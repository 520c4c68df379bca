import type { Deployment } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { Field, TextInput } from "../../../parts/field.tsx";
import { useAgentChanged } from "../use-agent-changed.ts";

interface ChangeShareProps {
  readonly agent: string;
  readonly canary: Deployment;
  readonly live: Deployment | undefined;
}

interface ShareFormProps extends ChangeShareProps {
  readonly onClose: () => void;
  readonly onWorking: (isWorking: boolean) => void;
}

function ShareForm({ agent, canary, live, onClose, onWorking }: ShareFormProps) {
  const [share, setShare] = useState(String(canary.traffic_percent));
  const changed = useAgentChanged();
  const change = useMutation({
    mutationFn: async () => {
      await perch.deployments.update(agent, canary.id, { traffic_percent: Number(share) });
      await changed();
    },
    onMutate: () => onWorking(true),
    onSuccess: onClose,
    onSettled: () => onWorking(false),
  });
  return (
    <DialogForm
      action="Change share"
      isWorking={change.isPending}
      canCancel={!change.isPending}
      error={change.error}
      onSubmit={change.mutate}
      onCancel={onClose}
    >
      <Field
        label="Share of requests, in percent"
        hint="From 1 to 99. When it grows, sessions that are on the canary stay there."
        problem={problemsByField(change.error).get("traffic_percent")}
      >
        {(ids) => (
          <TextInput
            {...ids}
            type="number"
            required
            min={1}
            max={99}
            className="max-w-24"
            value={share}
            onChange={({ target }) => setShare(target.value)}
          />
        )}
      </Field>
      <p className="text-table">
        {canary.version} will get {share || "…"} % of the requests in {canary.environment}
        {live ? `; ${live.version} keeps the rest` : ""}.
      </p>
    </DialogForm>
  );
}

export function ChangeShare(props: ChangeShareProps) {
  const [isOpen, setIsOpen] = useState(false);
  // If it closed while the request runs, the change would seem not to happen.
  const [isWorking, setIsWorking] = useState(false);
  const close = () => setIsOpen(false);
  const title = `Share of ${props.canary.version} in ${props.canary.environment}`;
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Change share</Button>
      <Dialog open={isOpen} onClose={close} title={title} isFirm={isWorking}>
        <ShareForm {...props} onClose={close} onWorking={setIsWorking} />
      </Dialog>
    </>
  );
}
