import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { approvalsOfRunQuery } from "../../../api/approvals-queries.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";

/** A link from a waiting run to the approval that it waits for. */
export function WaitingNote({ run }: { readonly run: string }) {
  const { data: approvals = [] } = useQuery(approvalsOfRunQuery(run));
  return (
    <div className="mx-4 rounded border border-warning bg-warning-soft px-3 py-2 text-table">
      <p className="font-medium text-warning">The run waits for a person.</p>
      <ul>
        {approvals.map(({ id, kind, tool }) => (
          <li key={id}>
            <Link to="/approvals/$approval" params={{ approval: id }} className={textLinkClass}>
              {kind === "question" ? "Answer the question of" : "Decide about the call of"}{" "}
              <OutsideText text={tool} className="font-mono text-small" />
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
