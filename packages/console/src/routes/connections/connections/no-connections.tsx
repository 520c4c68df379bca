import { Link } from "@tanstack/react-router";
import { Button } from "../../../parts/button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { useCan } from "../../../session/session.ts";

interface NoConnectionsProps {
  readonly agent: string;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

export function NoConnections({ agent, isFiltered, onClear }: NoConnectionsProps) {
  const mayWrite = useCan("write");
  if (isFiltered)
    return (
      <EmptyState title="No connection matches">
        <p>No connection of this agent matches the filters and the environment.</p>
        <div>
          <Button onClick={onClear}>Clear the filters and the environment</Button>
        </div>
      </EmptyState>
    );
  return (
    <EmptyState title="No accounts are connected">
      <p>
        Accounts that users allow this agent to use are listed here. First, a tool of its{" "}
        <Link to="/agents/$agent/definition" params={{ agent }} className={textLinkClass}>
          definition
        </Link>{" "}
        needs <code className="font-mono text-table">connection: {"{ account: user, return_urls: […] }"}</code>. Then
        your application {mayWrite ? "or you create" : "creates"} a link for a user.
      </p>
    </EmptyState>
  );
}
