import { type ApiKey, etagOf } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { keysChanged } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
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
  return (
    <DialogForm
      action="Save key"
      isWorking={save.isPending}
      error={save.error}
      onSubmit={save.mutate}
      onCancel={onClose}
    >
      <NameField value={name} onChange={setName} problem={problems.get("name")} />
      <AccessField value={access} onChange={setAccess} problem={problems.get("permissions") ?? problems.get("role")} />
      <ExpiryField value={expiry} onChange={setExpiry} problem={problems.get("expires_at")} keep={keepOf(before)} />
    </DialogForm>
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
