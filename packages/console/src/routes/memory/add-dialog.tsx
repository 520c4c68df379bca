import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { perch } from "../../api/perch.ts";
import { useAgentName } from "../../lists/use-agent-name.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogForm } from "../../parts/dialog-form.tsx";
import { Field, TextArea, TextInput } from "../../parts/field.tsx";
import { visibleText } from "../../parts/visible-text.ts";

interface AddDialogProps {
  readonly agent: string;
  /** The user whose memories are shown, as the default for a new one. */
  readonly user: string | undefined;
  readonly open: boolean;
  readonly onClose: () => void;
}

function parseMetadata(text: string): Record<string, unknown> {
  if (text.trim() === "") return {};
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw new Error("no object");
  return parsed as Record<string, unknown>;
}

const isMetadata = (text: string): boolean => {
  try {
    parseMetadata(text);
    return true;
  } catch {
    return false;
  }
};

function AddForm({ agent, user: shownUser, onClose }: Omit<AddDialogProps, "open">) {
  const [content, setContent] = useState("");
  const [user, setUser] = useState(shownUser ?? "");
  const [session, setSession] = useState("");
  const [metadata, setMetadata] = useState("");
  const queryClient = useQueryClient();
  const add = useMutation({
    mutationFn: () =>
      perch.memory.add(agent, {
        content,
        ...(user !== "" && { user_id: user }),
        ...(session !== "" && { session_id: session }),
        metadata: parseMetadata(metadata),
      }),
    onSuccess: async () => {
      onClose();
      await queryClient.invalidateQueries({ queryKey: ["memory", agent] });
    },
  });
  return (
    <DialogForm
      action="Add memory"
      canSubmit={isMetadata(metadata)}
      isWorking={add.isPending}
      error={add.error}
      onSubmit={add.mutate}
      onCancel={onClose}
    >
      <Field
        label="Content"
        hint="What the agent should know in later runs. The same content of the same user is stored once."
      >
        {(ids) => (
          <TextArea
            {...ids}
            required
            maxLength={8192}
            rows={4}
            value={content}
            onChange={({ target }) => setContent(target.value)}
          />
        )}
      </Field>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="User" hint="Empty: runs for all users recall it.">
          {(ids) => (
            <TextInput {...ids} maxLength={256} value={user} onChange={({ target }) => setUser(target.value)} />
          )}
        </Field>
        <Field label="Session" hint="The session that it comes from, if that matters.">
          {(ids) => (
            <TextInput {...ids} maxLength={256} value={session} onChange={({ target }) => setSession(target.value)} />
          )}
        </Field>
      </div>
      <Field
        label="Metadata"
        hint="JSON that searches can filter by, or nothing."
        problem={isMetadata(metadata) ? undefined : 'This is not a JSON object, such as {"source": "terms"}.'}
      >
        {(ids) => (
          <TextArea
            {...ids}
            rows={2}
            spellCheck={false}
            className="min-h-14! font-mono text-small!"
            value={metadata}
            onChange={({ target }) => setMetadata(target.value)}
          />
        )}
      </Field>
    </DialogForm>
  );
}

export const AddDialog = ({ open, onClose, ...form }: AddDialogProps) => (
  <Dialog open={open} onClose={onClose} title={`Add a memory to ${visibleText(useAgentName()(form.agent))}`}>
    <AddForm {...form} onClose={onClose} />
  </Dialog>
);
