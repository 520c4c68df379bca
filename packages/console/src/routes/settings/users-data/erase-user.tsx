import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { eraseUser, erasuresQuery } from "../../../api/erasures-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Field, TextInput } from "../../../parts/field.tsx";
import { visibleText } from "../../../parts/visible-text.ts";

/** Asks for the user twice, because an erasure cannot be undone. */
export function EraseUser({ onRequested }: { readonly onRequested: (erasureId: string) => void }) {
  const queryClient = useQueryClient();
  const [userId, setUserId] = useState("");
  const [isOpen, setIsOpen] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsOpen(true);
  };
  return (
    <>
      <form onSubmit={submit} className="flex flex-col items-start gap-2">
        <div className="w-full max-w-md">
          <Field label="User id" hint="Your application's id for the user, exactly as it sends it.">
            {(ids) => (
              <TextInput {...ids} value={userId} maxLength={256} onChange={({ target }) => setUserId(target.value)} />
            )}
          </Field>
        </div>
        <Button kind="danger" type="submit" disabled={userId === ""}>
          Erase user's data
        </Button>
      </form>
      <ConfirmDialog
        key={userId}
        open={isOpen}
        onClose={() => setIsOpen(false)}
        title={`Erase the data of ${visibleText(userId)}`}
        description="In all agents, also deleted ones: memories, sessions, texts of runs, logs, steps, streams and kept answers. Runs of the user that are under way are cancelled. This cannot be undone."
        action="Erase user's data"
        kind="danger"
        typed={userId}
        onConfirm={async () => {
          const id = await eraseUser(userId);
          onRequested(id);
          // Closes first: with an empty field, the dialog would name no user and still have an enabled button.
          setIsOpen(false);
          setUserId("");
          await queryClient.invalidateQueries({ queryKey: erasuresQuery.queryKey });
        }}
      />
    </>
  );
}
