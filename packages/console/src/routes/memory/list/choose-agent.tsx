import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { agentNamesQuery } from "../../../api/agents-queries.ts";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { textLinkClass } from "../../../parts/facts.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Working } from "../../../parts/working.tsx";

/** Memories belong to an agent, so one is chosen first. */
export function ChooseAgent() {
  const { data: names, error, refetch } = useQuery(agentNamesQuery);
  if (error)
    return (
      <div className="p-4">
        <ErrorNote error={error} onRetry={() => void refetch()} />
      </div>
    );
  if (!names) return <Working what="agents" />;
  return (
    <EmptyState title={names.length === 0 ? "No agents yet" : "Whose memory?"}>
      {names.length === 0 ? (
        <p>
          What an agent remembers of its users is shown here.{" "}
          <Link to="/agents" className={textLinkClass}>
            Create an agent
          </Link>{" "}
          first.
        </p>
      ) : (
        <>
          <p>Each agent remembers for itself. Choose one:</p>
          <ul className="grid grid-cols-[repeat(auto-fill,minmax(160px,1fr))] gap-x-4 gap-y-1">
            {names.map((name) => (
              <li key={name} className="min-w-0">
                <Link to="/memory" search={{ agent: name }} className={textLinkClass}>
                  <OutsideText text={name} />
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </EmptyState>
  );
}
