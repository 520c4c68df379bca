import { useQuery } from "@tanstack/react-query";
import { memoryStatusQuery } from "../../../api/memory-queries.ts";
import { formatCount } from "../../../parts/duration.ts";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";

/** The size of an agent's memory, its embedder, and the work under way. */
export function StatusLine({ agent }: { readonly agent: string }) {
  const { data: status } = useQuery(memoryStatusQuery(agent));
  if (!status) return <div className="h-8" />;
  return (
    <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-1 pb-2">
      <Facts>
        <Fact name="Memories">
          <span className="font-mono text-small">
            {formatCount(status.memories)} of {formatCount(status.max_memories)}
          </span>
        </Fact>
        <Fact name="Embedder">
          <OutsideText text={status.embedder.model} className="font-mono text-small" />,{" "}
          {formatCount(status.embedder.dimensions)} dimensions
        </Fact>
        {status.pending_embeddings > 0 && (
          <Fact name="Not embedded yet">
            <span className="font-mono text-small">{formatCount(status.pending_embeddings)}</span>; searches find them
            by words
          </Fact>
        )}
      </Facts>
      {status.clearing && <StatusMark status="running" word="A clear is running" />}
    </div>
  );
}
