import { type ApiKey, etagOf, PreconditionFailedError } from "@perch/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { keyQuery, keysChanged } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { problemsByField } from "../../../api/problems-by-field.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { ChangedMeanwhile } from "../../../parts/changed-meanwhile.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { meQuery, useMe } from "../../../session/session.ts";
import { toExpiresAt } from "../expiry-choice.ts";
import { accessOfKey, isSameAccess, toGrant } from "../grant.ts";
import { AccessField, ExpiryField, NameField } from "../key-fields.tsx";
import { useManageGrantsApprove } from "../use-manage-grants-approve.ts";
import type { KeyDialogProps } from "./key-dialog.ts";
import { ownKeyWarnings } from "./own-key-warnings.ts";

const keepOf = ({ expires_at }: ApiKey): string =>
  expires_at === null ? "never, as it is" : `at ${exactTime(new Date(expires_at))}, as it is`;

/** Sends only the changed fields, and is refused if another user has changed the key since it was read. */
function ChangeKeyForm({ apiKey, onClose }: Omit<KeyDialogProps, "open">) {
  /** The key as it was when the dialog opened, or after another user's change. */
  const [before, setBefore] = useState(apiKey);
  const [name, setName] = useState(before.name);
  const [access, setAccess] = useState(accessOfKey(before));
  const [expiry, setExpiry] = useState({ choice: "keep", at: "" });
  const isMine = useMe().key.id === before.id;
  const manageGrantsApprove = useManageGrantsApprove();
  const warnings = isMine ? ownKeyWarnings(before.permissions, access, expiry, manageGrantsApprove) : [];
  const queryClient = useQueryClient();
  /** Untouched fields take the new values: saving again must not return to the key what another user took from it. */
  const startFrom = (current: ApiKey) => {
    if (name === before.name) setName(current.name);
    if (isSameAccess(access, accessOfKey(before))) setAccess(accessOfKey(current));
    setBefore(current);
  };
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
      // First, so that no request is sent that the key no longer allows.
      if (isMine) await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
      await keysChanged();
    },
    onError: async (error) => {
      if (error instanceof PreconditionFailedError)
        startFrom(await queryClient.fetchQuery({ ...keyQuery(before.id), staleTime: 0 }));
    },
  });
  const hasMoved = save.error instanceof PreconditionFailedError;
  const problems = problemsByField(save.error);
  return (
    <DialogForm
      action="Save key"
      isWorking={save.isPending}
      error={hasMoved ? null : save.error}
      onSubmit={save.mutate}
      onCancel={onClose}
    >
      <NameField value={name} onChange={setName} problem={problems.get("name")} />
      <AccessField value={access} onChange={setAccess} problem={problems.get("permissions") ?? problems.get("role")} />
      <ExpiryField value={expiry} onChange={setExpiry} problem={problems.get("expires_at")} keep={keepOf(before)} />
      {warnings.length > 0 && (
        <p className="text-table text-warning">You are signed in with this key. {warnings.join(" ")}</p>
      )}
      {hasMoved && <ChangedMeanwhile what="key" />}
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
