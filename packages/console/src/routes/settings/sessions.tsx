import type { ConsoleSession } from "@perch/sdk";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { endSession, sessionListQuery, sessionsChanged } from "../../api/console-sessions.ts";
import { PagedList } from "../../lists/paged-list.tsx";
import { useKeyName } from "../../lists/use-key-name.ts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { signOut } from "../../session/leave.ts";
import { personName } from "../../session/person-name.ts";
import { describeBrowser } from "./describe-browser.ts";
import { EndOthers } from "./end-others.tsx";
import { SessionTable } from "./session-table.tsx";

const Nobody = () => (
  <EmptyState title="No browser is signed in to the console">
    <p className="text-muted">You use an API key directly. A browser that signs in appears here.</p>
  </EmptyState>
);

/** Names the owner of the session: with `manage`, the list has those of the whole organisation. */
function EndDialog({
  session,
  onClose,
}: {
  readonly session: ConsoleSession | undefined;
  readonly onClose: () => void;
}) {
  const nameOfKey = useKeyName();
  const [last, setLast] = useState(session);
  if (session && session !== last) setLast(session);
  if (!last) return null;
  const owner = visibleText(last.person ? personName(last.person) : nameOfKey(last.key_id));
  const place = visibleText(`${describeBrowser(last.user_agent)}, ${last.address}`);
  return (
    <ConfirmDialog
      open={session !== undefined}
      onClose={onClose}
      title={`End a session of ${owner}`}
      description={`That browser (${place}) must sign in again.`}
      action="End session"
      kind="danger"
      onConfirm={async () => {
        await endSession(last.id);
        await sessionsChanged();
      }}
    />
  );
}

export function Sessions() {
  const query = useInfiniteQuery({ ...sessionListQuery, refetchInterval: 30_000 });
  const [ending, setEnding] = useState<ConsoleSession>();
  const leave = useMutation({ mutationFn: () => signOut() });
  const isAlone = !query.hasNextPage && (query.data?.pages[0]?.data.length ?? 0) < 2;
  return (
    <>
      {!isAlone && (
        <div className="flex justify-end px-4 pt-3 pb-2">
          <EndOthers />
        </div>
      )}
      {leave.error && (
        <div className="px-4 pb-2">
          <ErrorNote error={leave.error} />
        </div>
      )}
      <PagedList query={query} what="sessions" empty={<Nobody />}>
        {(sessions) => (
          <SessionTable
            sessions={sessions}
            onEnd={(session) => (session.current ? leave.mutate() : setEnding(session))}
          />
        )}
      </PagedList>
      <EndDialog session={ending} onClose={() => setEnding(undefined)} />
    </>
  );
}
