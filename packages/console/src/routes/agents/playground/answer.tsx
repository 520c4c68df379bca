import { memo, useMemo, useState } from "react";
import { classNames } from "../../../parts/class-names.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StreamingText } from "./streaming-text.tsx";
import type { Turn } from "./turn.ts";

/** A longer answer is not worth the time to parse it. */
const maxJsonLength = 200_000;

/** The answer as indented JSON; undefined if it is not an object or list. */
export function jsonOf(answer: string): string | undefined {
  if (!/^\s*[[{]/.test(answer) || answer.length > maxJsonLength) return undefined;
  try {
    return JSON.stringify(JSON.parse(answer), null, 2);
  } catch {
    return undefined;
  }
}

const views = ["text", "json"] as const;

/** The answers of the other turns are not rendered again while one of them grows. */
export const Answer = memo(({ turn, isOwn }: { readonly turn: Turn; readonly isOwn: boolean }) => {
  const { answer, status } = turn;
  const [view, setView] = useState<(typeof views)[number]>("text");
  const json = useMemo(() => (status === "completed" ? jsonOf(answer) : undefined), [answer, status]);
  if (json === undefined)
    return isOwn ? <StreamingText text={answer} /> : <OutsideText block text={answer} className="text-body" />;
  return (
    <div className="flex flex-col items-start gap-1">
      <fieldset className="flex rounded border border-line text-small">
        <legend className="sr-only">Show the answer as</legend>
        {views.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={view === each}
            onClick={() => setView(each)}
            className={classNames("px-2 py-0.5", view === each ? "bg-accent-soft font-medium" : "text-muted")}
          >
            {each === "json" ? "JSON" : "Text"}
          </button>
        ))}
      </fieldset>
      <OutsideText
        block
        text={view === "json" ? json : answer}
        className={classNames("w-full", view === "json" && "font-mono text-table")}
      />
    </div>
  );
});
