import { etagOf, PreconditionFailedError, type Webhook } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { webhookQuery } from "../../../api/webhooks-queries.ts";
import { ChangedMeanwhile } from "../../../parts/changed-meanwhile.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { draftOf, follow, toUpdate } from "./webhook-draft.ts";
import { WebhookFields } from "./webhook-fields.tsx";

interface EditDialogProps {
  readonly webhook: Webhook;
  readonly open: boolean;
  readonly onClose: () => void;
}

function EditForm({ webhook, onClose }: Omit<EditDialogProps, "open">) {
  /** The webhook as it was when the form was opened, or after another user's change. */
  const [base, setBase] = useState(webhook);
  const [draft, setDraft] = useState(draftOf(webhook));
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: () => perch.webhooks.update(webhook.id, toUpdate(draftOf(base), draft), { ifMatch: etagOf(base) }),
    onSuccess: async () => {
      onClose();
      await queryClient.invalidateQueries({ queryKey: ["webhooks"] });
    },
    onError: async (error) => {
      if (!(error instanceof PreconditionFailedError)) return;
      const current = await queryClient.fetchQuery({ ...webhookQuery(webhook.id), staleTime: 0 });
      setDraft((now) => follow(draftOf(base), now, draftOf(current)));
      setBase(current);
    },
  });
  const hasMoved = save.error instanceof PreconditionFailedError;
  const isChanged = Object.keys(toUpdate(draftOf(base), draft)).length > 0;
  return (
    <DialogForm
      action="Save webhook"
      canSubmit={isChanged && draft.events.length > 0}
      isWorking={save.isPending}
      error={hasMoved ? null : save.error}
      onSubmit={save.mutate}
      onCancel={onClose}
    >
      <WebhookFields draft={draft} onChange={setDraft} problems={problemsByField(save.error)} isNew={false} />
      {hasMoved && <ChangedMeanwhile what="webhook" />}
    </DialogForm>
  );
}

export const EditDialog = ({ open, onClose, webhook }: EditDialogProps) => (
  <Dialog
    open={open}
    onClose={onClose}
    title="Edit webhook"
    description="It takes effect with the next attempt, also of pending deliveries."
  >
    <EditForm webhook={webhook} onClose={onClose} />
  </Dialog>
);
