import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { agentNamesQuery } from "../api/agents-queries.ts";
import { keepSearch, useSearchChange } from "../parts/change-search.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { ErrorNote } from "../parts/error-note.tsx";
import { OutsideText } from "../parts/outside-text.tsx";
import { textLinkClass } from "../parts/text-link.ts";
import { Working } from "../parts/working.tsx";
import { useMe } from "../session/session.ts";

/** At most this many names are fetched; with more agents the user types the name. */
const maxNames = 100;

interface ChooseAgentProps {
  /** "Whose memory?" */
  readonly title: string;
  /** A sentence about what the page shows of an agent. */
  readonly children: ReactNode;
}

/** For a page about one agent whose address names none: the only agent there is, or a choice. */
export function ChooseAgent({ title, children }: ChooseAgentProps) {
  const change = useSearchChange<{ agent: string }>();
  const { data: names, error, refetch } = useQuery(agentNamesQuery);
  const own = useMe().key.agent_id ?? undefined;
  const only = own ?? (names?.length === 1 ? names[0] : undefined);
  useEffect(() => {
    if (only !== undefined) change({ agent: only }, { replace: true });
  }, [only, change]);
  if (error)
    return (
      <div className="p-4">
        <ErrorNote error={error} onRetry={() => void refetch()} />
      </div>
    );
  if (!names || only !== undefined) return <Working what="agents" />;
  if (names.length === 0)
    return (
      <EmptyState title="No agents yet">
        <p>
          {children}{" "}
          <Link to="/agents" className={textLinkClass}>
            Create an agent
          </Link>{" "}
          first.
        </p>
      </EmptyState>
    );
  return (
    <EmptyState title={title}>
      <p>{children} Choose one:</p>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(160px,1fr))] gap-x-4 gap-y-1">
        {names.map((name) => (
          <li key={name} className="min-w-0">
            <Link to="." search={keepSearch({ agent: name })} className={textLinkClass}>
              <OutsideText text={name} />
            </Link>
          </li>
        ))}
      </ul>
      {names.length >= maxNames && (
        <p className="text-muted">There are more agents. Enter the name of one in the filter.</p>
      )}
    </EmptyState>
  );
}
