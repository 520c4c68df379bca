import { beginningOf } from "../../../parts/visible-text.ts";
import type { Side } from "./use-playground.ts";

const maxSpokenLength = 2000;

/** For screen readers: announces an answer once it is complete, not each piece of it. */
export function FinishedAnswer({ sides }: { readonly sides: readonly Side[] }) {
  const last = sides.map(({ conversation }) => conversation.turns.at(-1));
  const isWaiting = last.some((turn) => turn?.status === "running");
  // Turns that were there when the page opened are not announced.
  const spoken = last.filter((turn) => turn !== undefined && turn.trace !== undefined && turn.status !== "running");
  return (
    <div role="status" className="sr-only">
      {!isWaiting &&
        spoken.map((turn) => (
          <p key={turn?.id}>
            {turn?.status === "completed"
              ? `Answer: ${beginningOf(turn.answer, maxSpokenLength)}`
              : `Run ${turn?.status}`}
          </p>
        ))}
    </div>
  );
}
