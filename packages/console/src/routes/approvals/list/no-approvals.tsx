import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";

const lines = "approval:\n  when:\n    - { argument: amount, op: gt, value: 100 }";

interface NoApprovalsProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** Nothing to decide: because of the filters, or because nothing waits. */
export const NoApprovals = ({ isFiltered, onClear }: NoApprovalsProps) =>
  isFiltered ? (
    <EmptyState title="No approval matches">
      <p>No approval matches the filters and the environment. Decided ones are kept for 30 days.</p>
      <div>
        <Button onClick={onClear}>Clear the filters and the environment</Button>
      </div>
    </EmptyState>
  ) : (
    <EmptyState title="Nothing waits for a decision">
      <p>
        A run that wants to call a tool which needs approval waits here until a person decides. In an agent's
        definition, a tool asks for it like this:
      </p>
      <div className="flex items-start gap-1 rounded border border-line bg-sunken px-3 py-1.5">
        <pre className="min-w-0 flex-1 overflow-x-auto font-mono text-small">{lines}</pre>
        <CopyButton text={lines} what="the lines" />
      </div>
    </EmptyState>
  );
