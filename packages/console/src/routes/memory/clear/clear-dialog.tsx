import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { perch } from "../../../api/perch.ts";
import { useAgentName } from "../../../lists/use-agent-name.ts";
import { exactTime } from "../../../parts/ago.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { DialogForm } from "../../../parts/dialog-form.tsx";
import { Field, TextInput } from "../../../parts/field.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import type { MemorySearchParams } from "../memory-search.ts";
import { ClearProgress } from "./clear-progress.tsx";
import { type ClearLimits, clearSentence, isWhole, toLimits } from "./clear-sentence.ts";

interface ClearDialogProps {
  readonly agent: string;
  /** The current filters, as the default. */
  readonly search: MemorySearchParams;
  readonly open: boolean;
  readonly onClose: () => void;
}

const clear = (agent: string, { user, session, before }: ClearLimits) =>
  perch.memory.clear(agent, {
    ...(user !== undefined && { user_id: user }),
    ...(session !== undefined && { session_id: session }),
    ...(before && { before: before.toISOString() }),
  });

function ClearForm({ agent, search, onClose }: Omit<ClearDialogProps, "open">) {
  const name = useAgentName()(agent);
  const [user, setUser] = useState(search.user ?? "");
  const [session, setSession] = useState(search.session ?? "");
  const [before, setBefore] = useState("");
  const [typed, setTyped] = useState("");
  const limits = toLimits({ user, session, before });
  const queryClient = useQueryClient();
  const start = useMutation({
    mutationFn: () => clear(agent, limits),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["memory", agent] }),
  });
  if (start.data) return <ClearProgress agent={agent} clear={start.data.id} onClose={onClose} />;
  return (
    <DialogForm
      action="Clear memory"
      kind="danger"
      canSubmit={!isWhole(limits) || typed === name}
      isWorking={start.isPending}
      error={start.error}
      onSubmit={start.mutate}
      onCancel={onClose}
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="User" hint="Empty: of all users.">
          {(ids) => (
            <TextInput {...ids} maxLength={256} value={user} onChange={({ target }) => setUser(target.value)} />
          )}
        </Field>
        <Field label="Session" hint="Empty: of all sessions.">
          {(ids) => (
            <TextInput {...ids} maxLength={256} value={session} onChange={({ target }) => setSession(target.value)} />
          )}
        </Field>
      </div>
      <Field label="Stored before" hint="In your time zone. Empty: however new.">
        {(ids) => (
          <TextInput
            {...ids}
            type="datetime-local"
            className="max-w-60"
            value={before}
            onChange={({ target }) => setBefore(target.value)}
          />
        )}
      </Field>
      <p aria-live="polite" className="rounded border border-danger bg-danger-soft px-3 py-2 text-table">
        <OutsideText text={clearSentence(name, limits, exactTime)} /> This cannot be undone. Records of runs and logs
        are not deleted: they expire.
      </p>
      {isWhole(limits) && (
        <Field label={`Type ${visibleText(name)} to confirm`}>
          {(ids) => <TextInput {...ids} value={typed} onChange={({ target }) => setTyped(target.value)} />}
        </Field>
      )}
    </DialogForm>
  );
}

/** Deletes memories of an agent: all, or those of a user, of a session, or before a time. */
export const ClearDialog = ({ open, onClose, ...form }: ClearDialogProps) => (
  <Dialog open={open} onClose={onClose} title={`Clear memory of ${visibleText(useAgentName()(form.agent))}`}>
    <ClearForm {...form} onClose={onClose} />
  </Dialog>
);
