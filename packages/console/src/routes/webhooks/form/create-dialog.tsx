import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { MakeOnceForm } from "../../../session/make-once-form.tsx";
import { useMe } from "../../../session/session.ts";
import { ShownValue } from "../../../session/shown-value.tsx";
import { type MadeOnce, useShownOnce } from "../../../session/use-shown-once.ts";
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

function CreateForm({ webhook }: { readonly webhook: MadeOnce<Created> }) {
  const [draft, setDraft] = useState(newDraft(useMe().key.agent_id ?? ""));
  const queryClient = useQueryClient();
  const create = async () => {
    const { id, secret } = await perch.webhooks.create(toCreate(draft));
    void queryClient.invalidateQueries({ queryKey: ["webhooks", "list"] });
    return { id, secret };
  };
  return (
    <MakeOnceForm action="Create webhook" canSubmit={draft.events.length > 0} made={webhook} make={create}>
      <WebhookFields draft={draft} onChange={setDraft} problems={problemsByField(webhook.error)} isNew />
    </MakeOnceForm>
  );
}

/** Shows the secret once it is created, and then opens the new webhook. */
export function CreateDialog({ open, onClose }: CreateDialogProps) {
  const navigate = useNavigate();
  const webhook = useShownOnce<Created>((copied) => {
    onClose();
    // The page is still blocked for the secret until the next render.
    if (copied) void navigate({ to: "/webhooks/$webhook", params: { webhook: copied.id }, ignoreBlocker: true });
  });
  const { value: created, close } = webhook;
  return (
    <Dialog open={open} onClose={close} title="Create webhook" isFirm={webhook.isFirm}>
      {created ? (
        <ShownValue what="the signing secret" value={created.secret} onClose={close}>
          <p className="text-muted text-table">
            Your receiver uses it to verify that a delivery comes from Perch and was not changed on the way.
          </p>
        </ShownValue>
      ) : (
        <CreateForm webhook={webhook} />
      )}
    </Dialog>
  );
}
