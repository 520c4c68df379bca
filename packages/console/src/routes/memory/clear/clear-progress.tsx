import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { memoryClearQuery } from "../../../api/memory-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { formatCount } from "../../../parts/duration.ts";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Working } from "../../../parts/working.tsx";

const counted = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

interface ClearProgressProps {
  readonly agent: string;
  readonly clear: string;
  readonly onClose: () => void;
}

/** Follows a clear until it is completed. A large one goes on after the dialog is closed. */
export function ClearProgress({ agent, clear: id, onClose }: ClearProgressProps) {
  const { data: clear, error, refetch } = useQuery(memoryClearQuery(agent, id));
  const queryClient = useQueryClient();
  const isCompleted = clear?.status === "completed";
  useEffect(() => {
    if (isCompleted) void queryClient.invalidateQueries({ queryKey: ["memory", agent, "status"] });
  }, [isCompleted, queryClient, agent]);
  return (
    <div className="flex flex-col gap-3">
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!clear && !error && <Working what="the clear" />}
      {clear && (
        <p role="status" className="text-table">
          <StatusMark status={clear.status} /> {counted(clear.memories_deleted, "memory", "memories")} and{" "}
          {counted(clear.messages_deleted, "session message", "session messages")} deleted
          {isCompleted ? "." : " so far. The rest is hidden already; you can close this, and it goes on."}
        </p>
      )}
      <div className="flex justify-end">
        <Button kind="primary" autoFocus onClick={onClose}>
          Close
        </Button>
      </div>
    </div>
  );
}
