import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { endSession, otherSessionsQuery, sessionsChanged } from "../../api/console-sessions.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { DialogActions } from "../../parts/dialog-actions.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Working } from "../../parts/working.tsx";

const countOf = (sessions: number): string => (sessions === 1 ? "1 other session" : `${sessions} other sessions`);

function Question({ onClose }: { readonly onClose: () => void }) {
  const { data: others, error, refetch } = useQuery(otherSessionsQuery);
  const end = useMutation({
    mutationFn: async () => {
      for (const { id } of others ?? []) await endSession(id);
    },
    onSuccess: onClose,
    onSettled: sessionsChanged,
  });
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!others) return <Working what="your sessions" />;
  return (
    <>
      <p className="text-table">
        {others.length === 0
          ? "You have no other session."
          : `You have ${countOf(others.length)}. Those browsers must sign in again. This browser stays signed in.`}
      </p>
      {end.isError && <ErrorNote error={end.error} />}
      <DialogActions>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
        {others.length > 0 && (
          <Button kind="danger" working={end.isPending} onClick={() => end.mutate()}>
            End {countOf(others.length)}
          </Button>
        )}
      </DialogActions>
    </>
  );
}

/** The user's own sessions are loaded only on request: with `manage`, they are mixed with those of the whole organisation. */
export function EndOthers() {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>End my other sessions</Button>
      <Dialog open={isOpen} onClose={close} title="End my other sessions">
        <Question onClose={close} />
      </Dialog>
    </>
  );
}
