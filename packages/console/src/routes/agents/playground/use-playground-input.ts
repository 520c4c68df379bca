import { type KeyboardEvent, useCallback, useEffect, useRef } from "react";
import type { Turn } from "./turn.ts";
import type { PlaygroundState } from "./use-playground.ts";

/** A phone would open its keyboard over the page. */
const hasRoomForFocus = () => matchMedia("(min-width: 768px)").matches;

/** The actions on the input, which always leave the focus in it. */
export function usePlaygroundInput(state: PlaygroundState) {
  const { search, change, setText, setEdit, send, stop, isRunning } = state;
  const ref = useRef<HTMLTextAreaElement>(null);
  const focus = useCallback(() => ref.current?.focus(), []);
  useEffect(() => {
    if (hasRoomForFocus()) focus();
  }, [focus]);
  const andFocus = (act: () => void) => () => {
    act();
    focus();
  };
  return {
    ref,
    focus,
    onSend: andFocus(send),
    onStop: andFocus(stop),
    onEdit: (turn: Turn) => {
      setText(turn.message);
      setEdit({ runId: turn.runId, session: search.session, continues: false });
      focus();
    },
    onNewSession: andFocus(() => {
      setEdit(undefined);
      void change({ session: undefined }, false);
    }),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || !isRunning) return;
      stop();
      focus();
    },
  };
}
