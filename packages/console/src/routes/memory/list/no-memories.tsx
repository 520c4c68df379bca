import { Link } from "@tanstack/react-router";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";

interface NoMemoriesProps {
  readonly agent: string;
  readonly isFiltered: boolean;
}

/** Nothing to list: because of the filters, or because the agent remembers nothing yet. */
export const NoMemories = ({ agent, isFiltered }: NoMemoriesProps) => {
  const command = `perch memory add ${agent} 'Prefers jasmine tea' --user customer-1007`;
  return isFiltered ? (
    <EmptyState title="No memory matches">
      <p>This agent remembers nothing of this user and session.</p>
    </EmptyState>
  ) : (
    <EmptyState title="This agent remembers nothing yet">
      <p>
        What an agent should know in later runs is listed here. It stores memories itself once{" "}
        <Link to="/agents/$agent/definition" params={{ agent }} className={textLinkClass}>
          its definition
        </Link>{" "}
        sets <code className="font-mono text-table">memory.remember</code>, or you add one:
      </p>
      <p className="flex items-center gap-1 rounded border border-line bg-sunken px-3 py-1.5">
        <code className="min-w-0 flex-1 truncate font-mono text-small">{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
    </EmptyState>
  );
};
