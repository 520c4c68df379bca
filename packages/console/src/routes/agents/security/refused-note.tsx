import { CopyButton } from "../../../parts/copy-button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { useMe } from "../../../session/session.ts";

interface RefusedNoteProps {
  readonly error: unknown;
  readonly agentName: string;
  readonly onRetry: () => void;
}

/** The agent's own settings refuse this console. The session goes on; the operator can undo the settings. */
export function RefusedNote({ error, agentName, onRetry }: RefusedNoteProps) {
  const command = `perch-server reset-agent-security --organisation ${useMe().organisation.id} --agent ${agentName}`;
  return (
    <ErrorNote error={error} onRetry={onRetry}>
      <p className="mt-1">
        The agent's security settings refuse this console. You are still signed in, and other agents are not affected. A
        caller who meets the settings can change them; the operator can remove them all:
      </p>
      <p className="mt-1 flex items-center gap-1">
        <code className="min-w-0 font-mono text-small [overflow-wrap:anywhere]">{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
    </ErrorNote>
  );
}
