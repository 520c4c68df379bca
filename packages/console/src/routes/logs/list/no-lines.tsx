import { useFrameSearch } from "../../../frame/use-frame-search.ts";
import { KeptDays, useKeptSince } from "../../../lists/kept-days.tsx";
import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { EmptyState } from "../../../parts/empty-state.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";

interface NoLinesProps {
  readonly agent: string;
  readonly isTail: boolean;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}

/** Nothing to show: because of the filters, or because nothing was logged yet. */
export function NoLines({ agent, isTail, isFiltered, onClear }: NoLinesProps) {
  const [{ range }] = useFrameSearch();
  const isKept = useKeptSince(range) === undefined;
  const command = `perch invoke ${agent} 'Hello'`;
  if (isFiltered)
    return (
      <EmptyState title="No line matches">
        <p>
          No line in this time range matches the filters and the environment.
          {isTail && " New lines that match appear here."}
          {!isTail && (isKept ? " Choose a longer time range, or clear them." : " Clear them to see others.")}
        </p>
        <KeptDays range={range} />
        <div>
          <Button onClick={onClear}>Clear the filters and the environment</Button>
        </div>
      </EmptyState>
    );
  return (
    <EmptyState title="No lines in this time range">
      <KeptDays range={range} />
      <p>
        The runs of <OutsideText text={agent} /> are logged here, with the lines that its tools add.
        {isTail && " New lines appear by themselves. Send it a message:"}
        {!isTail && (isKept ? " Choose a longer time range, or send a message:" : " Send it a message:")}
      </p>
      <p className="flex items-center gap-1 rounded border border-line bg-sunken px-3 py-1.5">
        <code className="min-w-0 flex-1 truncate font-mono text-small">
          <OutsideText text={command} />
        </code>
        <CopyButton text={command} what="the command" />
      </p>
    </EmptyState>
  );
}
