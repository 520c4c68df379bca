import type { LogLine } from "../../../api/logs-queries.ts";
import { Button } from "../../../parts/button.tsx";
import { useCopy } from "../../../parts/use-copy.ts";
import type { LogLines } from "../tail/log-lines.ts";

const toText = ({ timestamp, level, message }: LogLine): string => `${timestamp} ${level} ${message}`;

/** All loaded lines, oldest first, with their times in UTC. */
export function CopyLines({ lines }: { readonly lines: LogLines }) {
  const { copy, outcome } = useCopy();
  if (lines.count() === 0) return null;
  return (
    <>
      <span role="status" className="text-muted text-small">
        {outcome}
      </span>
      <Button onClick={() => copy(lines.all().map(toText).join("\n"))}>Copy lines</Button>
    </>
  );
}
