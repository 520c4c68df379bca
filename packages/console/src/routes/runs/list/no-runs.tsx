import { Link } from "@tanstack/react-router";
import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";

const command = "perch invoke my-agent 'Hello'";

interface NoRunsProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** Nothing to list: because of the filters, or because nothing has run yet. */
export const NoRuns = ({ isFiltered, onClear }: NoRunsProps) =>
  isFiltered ? (
    <EmptyState title="No run matches">
      <p>
        No run in this time range matches the filters and the environment. Choose a longer time range, or clear them.
      </p>
      <div>
        <Button onClick={onClear}>Clear the filters and the environment</Button>
      </div>
    </EmptyState>
  ) : (
    <EmptyState title="No runs in this time range">
      <p>
        Every message to an agent is a run, and is listed here with its steps. Choose a longer time range, or send one:
      </p>
      <p className="flex items-center gap-1 rounded border border-line bg-sunken px-3 py-1.5">
        <code className="min-w-0 flex-1 truncate font-mono text-small">{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
      <p>
        Or open one of your{" "}
        <Link to="/agents" className={textLinkClass}>
          agents
        </Link>{" "}
        and talk to it in its playground.
      </p>
    </EmptyState>
  );
