import type { CreatedApiKey } from "@perch/sdk";
import { useState } from "react";
import { keysChanged } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Field, Select } from "../../../parts/field.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { MakeOnceForm } from "../../../session/make-once-form.tsx";
import { useMe } from "../../../session/session.ts";
import { ShownValue } from "../../../session/shown-value.tsx";
import { type MadeOnce, useShownOnce } from "../../../session/use-shown-once.ts";
import type { KeyDialogProps } from "./key-dialog.ts";
import { endOfOldKey, overlaps } from "./overlap.ts";

interface Rotated {
  readonly successor: CreatedApiKey;
  readonly oldEnds: Date | undefined;
}

interface RotateFormProps extends Pick<KeyDialogProps, "apiKey"> {
  readonly next: MadeOnce<Rotated>;
}

function RotateForm({ apiKey, next }: RotateFormProps) {
  const [overlap, setOverlap] = useState("86400");
  const isMine = useMe().key.id === apiKey.id;
  const rotate = async () => {
    const seconds = Number(overlap);
    const successor = await perch.keys.rotate(apiKey.id, { overlap_seconds: seconds });
    return { successor, oldEnds: endOfOldKey(apiKey, seconds, new Date(successor.created_at)) };
  };
  const ends = endOfOldKey(apiKey, Number(overlap), new Date());
  return (
    <MakeOnceForm action="Rotate key" made={next} make={rotate}>
      <Field label="The old key keeps working for" hint={ends ? `Until ${exactTime(ends)}.` : "It is refused at once."}>
        {(ids) => (
          <Select {...ids} value={overlap} onChange={({ target }) => setOverlap(target.value)}>
            {Object.entries(overlaps).map(([seconds, name]) => (
              <option key={seconds} value={seconds}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {isMine && (
        <p className="text-table text-warning">
          You are signed in with this key: your session ends with it. Sign in with the new one.
        </p>
      )}
    </MakeOnceForm>
  );
}

export function RotateKeyDialog({ apiKey, open, onClose }: KeyDialogProps) {
  const next = useShownOnce<Rotated>((copied) => {
    onClose();
    // Only after closing: with the new list, the key would have a successor, and this dialog would disappear with its button.
    if (copied) void keysChanged();
  });
  const { value: rotated, close } = next;
  return (
    <Dialog
      open={open}
      onClose={close}
      isFirm={next.isFirm}
      title={`Rotate ${visibleText(apiKey.name)}`}
      description="A new key with the same name, permissions and expiry replaces it."
    >
      {rotated ? (
        <ShownValue what="the new key" value={rotated.successor.key} onClose={close}>
          <p className="text-muted text-table">
            It works now.{" "}
            {rotated.oldEnds
              ? `The old one works until ${exactTime(rotated.oldEnds)}; move what uses it by then.`
              : "The old one is refused."}
          </p>
        </ShownValue>
      ) : (
        <RotateForm apiKey={apiKey} next={next} />
      )}
    </Dialog>
  );
}
