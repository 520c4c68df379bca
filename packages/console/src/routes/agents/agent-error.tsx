import { PerchError } from "@perch/sdk";
import { useParams } from "@tanstack/react-router";
import type { ComponentProps } from "react";
import { PageError } from "../../frame/page-error.tsx";
import { useCan } from "../../session/session.ts";
import { RefusedNote } from "./security/refused-note.tsx";

/** The ref comes from the address and goes into a command that the user copies. */
const isPlain = (ref: string): boolean => /^[A-Za-z0-9_-]+$/.test(ref);

/**
 * If an agent's own settings refuse this console, every page of the agent explains it and how to undo them, because its Security tab cannot
 * be opened.
 */
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
