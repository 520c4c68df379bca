import type { Webhook } from "@perch/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { perch } from "../../../api/perch.ts";
import { Ago, exactTime } from "../../../parts/ago.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Field, Select } from "../../../parts/field.tsx";
import { MakeOnceForm } from "../../../session/make-once-form.tsx";
import { ShownValue } from "../../../session/shown-value.tsx";
import { type MadeOnce, useShownOnce } from "../../../session/use-shown-once.ts";

interface RotateDialogProps {
  readonly webhook: Webhook;
  readonly open: boolean;
  readonly onClose: () => void;
}

const overlaps = [
  { seconds: 0, label: "Not at all" },
  { seconds: 3600, label: "For an hour" },
  { seconds: 86_400, label: "For a day" },
  { seconds: 7 * 86_400, label: "For 7 days" },
];

interface Rotated {
  readonly secret: string;
  readonly previousUntil: string | null;
}

interface RotateFormProps {
  readonly webhook: Webhook;
  readonly secret: MadeOnce<Rotated>;
}

function RotateForm({ webhook, secret }: RotateFormProps) {
  const [overlap, setOverlap] = useState(86_400);
  const queryClient = useQueryClient();
  const rotate = async () => {
    const answer = await perch.webhooks.rotateSecret(webhook.id, { overlap_seconds: overlap });
    void queryClient.invalidateQueries({ queryKey: ["webhooks"] });
    return { secret: answer.secret, previousUntil: answer.previous_secret_expires_at };
  };
  return (
    <MakeOnceForm action="Rotate secret" made={secret} make={rotate}>
      <Field
        label="Sign with the old secret too"
        hint="Until then a receiver can check deliveries with either of them. A secret that others may know should end at once."
      >
        {(ids) => (
          <Select
            {...ids}
            className="self-start"
            value={overlap}
            onChange={({ target }) => setOverlap(Number(target.value))}
          >
            {overlaps.map(({ seconds, label }) => (
              <option key={seconds} value={seconds}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
    </MakeOnceForm>
  );
}

/** Shows the new secret once, and until when the old one is valid. */
export function RotateDialog({ open, onClose, webhook }: RotateDialogProps) {
  const secret = useShownOnce<Rotated>(onClose);
  const { value: rotated, close } = secret;
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Rotate signing secret"
      description="Creates a new secret, which signs deliveries from now on."
      isFirm={secret.isFirm}
    >
      {rotated ? (
        <ShownValue what="the new signing secret" value={rotated.secret} onClose={close}>
          <p className="text-table">
            {rotated.previousUntil === null ? (
              "The old secret is not used any more."
            ) : (
              <>
                Deliveries are signed with both secrets until {exactTime(new Date(rotated.previousUntil))} (
                <Ago at={rotated.previousUntil} />
                ).
              </>
            )}
          </p>
        </ShownValue>
      ) : (
        <RotateForm webhook={webhook} secret={secret} />
      )}
    </Dialog>
  );
}
