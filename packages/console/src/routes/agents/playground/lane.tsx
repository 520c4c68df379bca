import { useState } from "react";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Working } from "../../../parts/working.tsx";
import { TracePanel } from "./trace-panel.tsx";
import { counterpartOf, type Turn } from "./turn.ts";
import { TurnView } from "./turn-view.tsx";
import type { Conversation } from "./use-conversation.ts";
import { useStickToEnd } from "./use-stick-to-end.ts";

interface LaneProps {
  readonly agent: string;
  /** The version, if two are compared. */
  readonly title: string | undefined;
  readonly conversation: Conversation;
  readonly others: readonly Turn[] | undefined;
  readonly onEdit: ((turn: Turn) => void) | undefined;
  readonly onFollow: (turn: Turn) => void;
}

/** One conversation and the trace of its last turn, or of the one that was chosen. */
export function Lane({ agent, title, conversation, others, onEdit, onFollow }: LaneProps) {
  const { turns, hasEarlier, showEarlier, isLoading, error } = conversation;
  const [chosenId, setChosenId] = useState<string>();
  const [isTraceOpen, setIsTraceOpen] = useState(() => matchMedia("(min-width: 768px)").matches);
  const traced = turns.find(({ id }) => id === chosenId) ?? turns.at(-1);
  const stick = useStickToEnd(turns);
  const isAlone = others === undefined;
  return (
    <div
      className={
        isAlone
          ? "flex min-h-0 flex-1 flex-col lg:flex-row"
          : "flex min-h-0 flex-1 flex-col border-line not-last:border-b md:not-last:border-r md:not-last:border-b-0"
      }
    >
      <section
        aria-label={title === undefined ? "Conversation" : `Conversation with ${title}`}
        className="flex min-h-0 min-w-0 flex-1 flex-col"
      >
        {title !== undefined && <h2 className="truncate border-line border-b px-4 py-1.5 text-table">{title}</h2>}
        {/* It scrolls, so the keyboard must reach it, also while it is empty. */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls. */}
        <div ref={stick.ref} tabIndex={0} onScroll={stick.onScroll} className="min-h-0 flex-1 overflow-auto">
          {isLoading && <Working what="the session" />}
          {error !== null && <ErrorNote error={error} />}
          {hasEarlier && (
            <Button kind="quiet" className="mx-4 my-2" onClick={showEarlier}>
              Show earlier turns
            </Button>
          )}
          {turns.length === 0 && !isLoading && error === null && (
            <NothingYet agent={agent} mayRun={onEdit !== undefined} />
          )}
          {others !== undefined && turns.length > 0 && turns.length < others.length && (
            <p className="px-4 pt-3 text-muted text-small">
              This side began later. Its model has not seen the earlier messages.
            </p>
          )}
          <ol>
            {turns.map((turn, index) => (
              <TurnView
                key={turn.id}
                agent={agent}
                turn={turn}
                counterpart={others && counterpartOf(turns, index, others)}
                isTraced={turn === traced}
                onTrace={() => {
                  setChosenId(turn.id);
                  setIsTraceOpen(true);
                }}
                onEdit={onEdit && (() => onEdit(turn))}
                onFollow={() => onFollow(turn)}
              />
            ))}
          </ol>
        </div>
      </section>
      <TracePanel
        agent={agent}
        turn={traced}
        counterpart={traced && others && counterpartOf(turns, turns.indexOf(traced), others)}
        label={isAlone ? "Trace" : `Trace of ${title}`}
        isBeside={isAlone}
        isOpen={isTraceOpen}
        onOpen={setIsTraceOpen}
      />
    </div>
  );
}

interface NothingYetProps {
  readonly agent: string;
  readonly mayRun: boolean;
}

const NothingYet = ({ agent, mayRun }: NothingYetProps) => (
  <div className="flex max-w-xl flex-col gap-2 px-4 py-8 text-muted text-table">
    <h2 className="text-body text-text">No messages in this session yet</h2>
    {mayRun ? (
      <p>
        Write to {agent} below. Its answer appears here word by word, with the steps that led to it. Each message is a
        run like any other: it counts against limits, and is in the list of runs.
      </p>
    ) : (
      <p>
        Enter the name of a session above to read its messages. The list of runs shows which session each run of {agent}{" "}
        belongs to.
      </p>
    )}
  </div>
);
