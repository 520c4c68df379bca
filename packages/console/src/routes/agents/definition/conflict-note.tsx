import type { Agent } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { keyNamesQuery } from "../../../api/keys-queries.ts";
import { perch } from "../../../api/perch.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { useCan } from "../../../session/session.ts";

/** The last editor of the agent: a person, a user, or a key by its name. Only users who may read the audit log see it. */
function useLastChange(agentId: string): string | undefined {
  const canManage = useCan("manage");
  const { data: names } = useQuery({ ...keyNamesQuery, enabled: canManage });
  const { data } = useQuery({
    queryKey: ["audit-log", "last-change", agentId],
    queryFn: async ({ signal }) =>
      (await perch.auditLog.list({ resource: agentId, outcome: "changed", limit: 1 }, { signal }).page()).data[0],
    enabled: canManage,
    staleTime: 0,
  });
  if (!data) return undefined;
  const { person, user_id, key_id } = data;
  return person ?? user_id ?? (key_id === null ? undefined : `the key ${names?.get(key_id) ?? key_id}`);
}

interface ConflictNoteProps {
  /** As it is now. */
  readonly agent: Agent;
  readonly onOverwrite: () => void;
  readonly onReload: () => void;
  readonly isSaving: boolean;
}

export function ConflictNote({ agent, onOverwrite, onReload, isSaving }: ConflictNoteProps) {
  const by = useLastChange(agent.id);
  return (
    <div role="alert" className="rounded border border-warning bg-warning-soft px-3 py-2 text-table">
      <p className="font-medium text-warning">
        The agent was changed meanwhile, <Ago at={agent.updated_at} />
        {by !== undefined && (
          <>
            , by <OutsideText text={by} />
          </>
        )}
        . Your changes were not saved.
      </p>
      <p className="mt-1">
        Overwriting saves the fields that you changed over theirs; fields that you did not change keep their new values.
      </p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button onClick={onReload}>Discard my changes and reload</Button>
        <Button kind="danger" onClick={onOverwrite} working={isSaving}>
          Overwrite with my changes
        </Button>
      </div>
    </div>
  );
}
