import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { perch } from "../../../api/perch.ts";
import { Button, buttonClass } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { ShownOnce } from "../../../parts/shown-once.tsx";
import { useMe } from "../../../session/session.ts";
import { problemsByField } from "../../agents/problems-by-field.ts";
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

function CreateSteps({ onClose }: { readonly onClose: () => void }) {
  const [created, setCreated] = useState<Created>();
  if (!created) return <CreateForm onClose={onClose} onCreated={setCreated} />;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-table">
        The webhook is created. Your receiver checks with this secret that a delivery is from here.
      </p>
      <ShownOnce what="the signing secret" value={created.secret} />
      <div className="flex justify-end gap-2">
        <Button kind="quiet" onClick={onClose}>
          Close
        </Button>
        <Link to="/webhooks/$webhook" params={{ webhook: created.id }} className={buttonClass("primary")}>
          Open webhook
        </Link>
      </div>
    </div>
  );
}

export const CreateDialog = ({ open, onClose }: CreateDialogProps) => (
  <Dialog open={open} onClose={onClose} title="Create webhook">
    <CreateSteps onClose={onClose} />
  </Dialog>
);
