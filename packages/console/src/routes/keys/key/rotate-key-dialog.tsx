import type { CreatedApiKey } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { keysChanged } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogActions } from "../../../parts/dialog-actions.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Field, Select } from "../../../parts/field.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { useMe } from "../../../session/session.ts";
import { ShownValue } from "../../../session/shown-value.tsx";
import type { KeyDialogProps } from "./key-dialog.ts";
import { endOfOldKey, overlaps } from "./overlap.ts";

interface Rotated {
  readonly successor: CreatedApiKey;
  readonly oldEnds: Date | undefined;
}

interface RotateFormProps extends Omit<KeyDialogProps, "open"> {
  readonly onRotated: (rotated: Rotated) => void;
}

function RotateForm({ apiKey, onRotated, onClose }: RotateFormProps) {
  const [overlap, setOverlap] = useState("86400");
  const isMine = useMe().key.id === apiKey.id;
  const rotate = useMutation({
    // The key goes to the dialog alone: what a mutation returns is kept for minutes.
    gcTime: 0,
    mutationFn: async () => {
      const seconds = Number(overlap);
      const successor = await perch.keys.rotate(apiKey.id, { overlap_seconds: seconds });
      onRotated({ successor, oldEnds: endOfOldKey(apiKey, seconds, new Date(successor.created_at)) });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rotate.mutate();
  };
  const ends = endOfOldKey(apiKey, Number(overlap), new Date());
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
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
      {rotate.error && <ErrorNote error={rotate.error} />}
      <DialogActions>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" working={rotate.isPending}>
          Rotate key
        </Button>
      </DialogActions>
    </form>
  );
}

export function RotateKeyDialog({ apiKey, open, onClose }: KeyDialogProps) {
  const [rotated, setRotated] = useState<Rotated>();
  const close = () => {
    setRotated(undefined);
    onClose();
    // Not before: the list would say that the key has a successor, and this dialog would go with its button.
    if (rotated) void keysChanged();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      isFirm={rotated !== undefined}
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
        <RotateForm apiKey={apiKey} onRotated={setRotated} onClose={close} />
      )}
    </Dialog>
  );
}
