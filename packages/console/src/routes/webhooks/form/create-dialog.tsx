import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { useMe } from "../../../session/session.ts";
import { ShownValue } from "../../../session/shown-value.tsx";
import { newDraft, toCreate } from "./webhook-draft.ts";
import { WebhookFields } from "./webhook-fields.tsx";

interface CreateDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

interface Created {
  readonly id: string;
  readonly secret: string;
}

function CreateForm({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (created: Created) => void;
}) {
  const [draft, setDraft] = useState(newDraft(useMe().key.agent_id ?? ""));
  const queryClient = useQueryClient();
  const create = useMutation({
    // The secret is handed on and not returned: what a mutation returns is kept.
    mutationFn: async () => {
      const { id, secret } = await perch.webhooks.create(toCreate(draft));
      onCreated({ id, secret });
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["webhooks", "list"] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <WebhookFields draft={draft} onChange={setDraft} problems={problemsByField(create.error)} isNew />
      {create.error && <ErrorNote error={create.error} />}
      <div className="flex justify-end gap-2">
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" working={create.isPending} disabled={draft.events.length === 0}>
          Create webhook
        </Button>
      </div>
    </form>
  );
}

/** Shows the secret once it is there, and then leads to the new webhook. */
export function CreateDialog({ open, onClose }: CreateDialogProps) {
  const [created, setCreated] = useState<Created>();
  const navigate = useNavigate();
  const close = () => {
    onClose();
    setCreated(undefined);
    if (created) void navigate({ to: "/webhooks/$webhook", params: { webhook: created.id } });
  };
  return (
    <Dialog open={open} onClose={close} title="Create webhook" isFirm={created !== undefined}>
      {created ? (
        <ShownValue what="the signing secret" value={created.secret} onClose={close}>
          <p className="text-muted text-table">
            Your receiver checks with it that a delivery is from here, and that nobody has changed it on the way.
          </p>
        </ShownValue>
      ) : (
        <CreateForm onClose={close} onCreated={setCreated} />
      )}
    </Dialog>
  );
}
