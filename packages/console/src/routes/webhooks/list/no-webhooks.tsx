import { CopyButton } from "../../../parts/copy-button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";

const command = "perch webhooks create https://hooks.example.com/perch --event agent.completed";

export const NoWebhooks = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState title="No webhook matches">
      <p>No webhook has this agent and status.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No webhooks yet">
      <p>
        A webhook notifies one of your services when a run has ended, a deployment has become active, or an approval is
        waiting. Each delivery is signed, repeated until it succeeds, and listed here.
      </p>
      <p className="flex items-center gap-1 rounded border border-line bg-sunken px-3 py-1.5">
        <code className="min-w-0 flex-1 truncate font-mono text-small">{command}</code>
        <CopyButton text={command} what="the command" />
      </p>
    </EmptyState>
  );
