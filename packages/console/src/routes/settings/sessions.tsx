import type { ConsoleSession } from "@perch/sdk";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { endSession, sessionsQuery } from "../../api/console-sessions.ts";
import { queryClient } from "../../api/query-client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Working } from "../../parts/working.tsx";
import { signOut } from "../../session/leave.ts";
import { SessionTable } from "./session-table.tsx";

/** Sessions of the same key or person in other browsers. Whoever may manage sees those of everybody, which are not meant. */
function othersOfMine(sessions: readonly ConsoleSession[]): readonly ConsoleSession[] {
  const mine = sessions.find(({ current }) => current);
  if (!mine) return [];
  const isMine = ({ person, key_id }: ConsoleSession) =>
    mine.person ? person?.subject === mine.person.subject : key_id === mine.key_id;
  return sessions.filter((session) => !session.current && isMine(session));
}

const useEndSessions = () =>
  useMutation({
    mutationFn: async (sessions: readonly ConsoleSession[]) => {
      for (const { id, current } of sessions) await (current ? signOut() : endSession(id));
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });

interface EndOthersProps {
  readonly others: readonly ConsoleSession[];
}

function EndOthers({ others }: EndOthersProps) {
  const [isOpen, setIsOpen] = useState(false);
  const end = useEndSessions();
  const count = others.length === 1 ? "1 other session" : `${others.length} other sessions`;
  const confirm = () => end.mutate(others, { onSuccess: () => setIsOpen(false) });
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>End my other sessions</Button>
      <Dialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        title={`End ${count}?`}
        description="Whoever uses them must sign in again. This browser stays signed in."
      >
        {end.isError && <ErrorNote error={end.error} />}
        <div className="flex gap-2">
          <Button kind="danger" working={end.isPending} onClick={confirm}>
            End {count}
          </Button>
          <Button onClick={() => setIsOpen(false)}>Keep them signed in</Button>
        </div>
      </Dialog>
    </>
  );
}

export function Sessions() {
  const { data, error, isPending, refetch } = useQuery({ ...sessionsQuery, refetchInterval: 30_000 });
  const end = useEndSessions();
  const others = othersOfMine(data?.sessions ?? []);
  return (
    <>
      {others.length > 0 && (
        <div className="flex justify-end px-4 pt-3">
          <EndOthers others={others} />
        </div>
      )}
      {isPending && <Working what="sessions" />}
      {error && !data && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {end.isError && (
        <div className="p-4">
          <ErrorNote error={end.error} />
        </div>
      )}
      {data && data.sessions.length === 0 && (
        <EmptyState title="Nobody is signed in to the console">
          <p className="text-muted">You use an API key directly. A browser that signs in appears here.</p>
        </EmptyState>
      )}
      {data && data.sessions.length > 0 && (
        <SessionTable
          sessions={data.sessions}
          ending={end.isPending ? end.variables[0]?.id : undefined}
          onEnd={(session) => end.mutate([session])}
        />
      )}
      {data?.hasMore && <p className="px-4 py-2 text-muted text-table">Only the newest 100 sessions are shown.</p>}
    </>
  );
}
