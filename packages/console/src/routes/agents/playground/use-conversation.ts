import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { sessionRunsQuery } from "../../../api/session-runs-queries.ts";
import { joinTurns, type Turn, turnOfRun } from "./turn.ts";
import type { Turns } from "./use-turns.ts";

const turnsAtFirst = 20;
/** The largest page. The list of runs has the rest. */
const maxTurns = 100;

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly hasEarlier: boolean;
  readonly showEarlier: () => void;
  readonly isLoading: boolean;
  readonly error: Error | null;
}

/**
 * The turns of a session: those of the record, and those that this page has added. A session that began on this page has no earlier ones.
 */
export function useConversation(
  agent: string,
  session: string | undefined,
  { all, follow }: Turns,
  isBegunHere: boolean,
): Conversation {
  const [limit, setLimit] = useState(turnsAtFirst);
  const query = useQuery({
    ...sessionRunsQuery(agent, session ?? "", limit),
    enabled: session !== undefined && !isBegunHere,
    placeholderData: (earlier, earlierQuery) => (earlierQuery?.queryKey[3] === session ? earlier : undefined),
  });
  const { data, isLoading, error } = query;
  const recorded = useMemo(() => data?.runs.map(turnOfRun) ?? [], [data]);
  const turns = useMemo(
    () =>
      session === undefined
        ? []
        : joinTurns(
            recorded,
            all.filter((turn) => turn.session === session),
          ),
    [recorded, all, session],
  );
  useEffect(() => {
    for (const turn of recorded) if (turn.status === "running" || turn.status === "waiting") follow(agent, turn);
  }, [recorded, agent, follow]);
  const hasEarlier = (data?.hasEarlier ?? false) && limit < maxTurns;
  return { turns, hasEarlier, showEarlier: () => setLimit(maxTurns), isLoading, error };
}
