import { PerchError } from "@perch/sdk";
import { useParams } from "@tanstack/react-router";
import type { ComponentProps } from "react";
import { PageError } from "../../frame/page-error.tsx";
import { useCan } from "../../session/session.ts";
import { RefusedNote } from "./security/refused-note.tsx";

/** The ref comes from the address, and goes into a command that somebody copies. */
const isPlain = (ref: string): boolean => /^[A-Za-z0-9_-]+$/.test(ref);

/** An agent whose own settings refuse this console says so here too, and how to undo them: its Security tab cannot be opened. */
export function AgentError(props: ComponentProps<typeof PageError>) {
  const { agent = "" } = useParams({ strict: false });
  const canRead = useCan("read");
  const { error } = props;
  const isRefused = error instanceof PerchError && (error.status === 401 || error.status === 403);
  return (
    <PageError {...props}>
      {canRead && isRefused && isPlain(agent)
        ? (retry) => <RefusedNote error={error} agentName={agent} onRetry={retry} />
        : undefined}
    </PageError>
  );
}
