import { type ApiKey, etagOf } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { keysChanged } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogActions } from "../../../parts/dialog-actions.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { toExpiresAt } from "../expiry-choice.ts";
import { accessOfKey, isSameAccess, toGrant } from "../grant.ts";
import { AccessField, ExpiryField, NameField } from "../key-fields.tsx";
import type { KeyDialogProps } from "./key-dialog.ts";

const keepOf = ({ expires_at }: ApiKey): string =>
  expires_at === null ? "never, as it is" : `at ${exactTime(new Date(expires_at))}, as it is`;

/** It sends what was changed alone, and is refused if the key was changed by somebody else since it was read. */
function ChangeKeyForm({ apiKey, onClose }: Omit<KeyDialogProps, "open">) {
  // What is saved is compared with what was there when the dialog opened, and not with what is read meanwhile.
  const [before] = useState(apiKey);
  const [name, setName] = useState(before.name);
  const [access, setAccess] = useState(accessOfKey(before));
  const [expiry, setExpiry] = useState({ choice: "keep", at: "" });
  const save = useMutation({
    mutationFn: () => {
      const expiresAt = toExpiresAt(expiry, new Date());
      const body = {
        ...(name !== before.name && { name }),
        ...(!isSameAccess(access, accessOfKey(before)) && toGrant(access)),
        ...(expiresAt !== undefined && { expires_at: expiresAt }),
      };
      return perch.keys.update(before.id, body, { ifMatch: etagOf(before) });
    },
    onSuccess: async () => {
      onClose();
      await keysChanged();
    },
  });
  const problems = problemsByField(save.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <NameField value={name} onChange={setName} problem={problems.get("name")} />
      <AccessField value={access} onChange={setAccess} problem={problems.get("permissions") ?? problems.get("role")} />
      <ExpiryField value={expiry} onChange={setExpiry} problem={problems.get("expires_at")} keep={keepOf(before)} />
      {save.error && <ErrorNote error={save.error} />}
      <DialogActions>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" working={save.isPending}>
          Save key
        </Button>
      </DialogActions>
    </form>
  );
}

export const ChangeKeyDialog = ({ open, ...rest }: KeyDialogProps) => (
  <Dialog
    open={open}
    onClose={rest.onClose}
    title={`Change ${visibleText(rest.apiKey.name)}`}
    description="It applies from the next request with the key on."
  >
    <ChangeKeyForm {...rest} />
  </Dialog>
);
