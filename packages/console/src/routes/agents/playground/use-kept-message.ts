import { useCallback, useState } from "react";
import type { Edit } from "./edit.ts";

interface Message {
  readonly text: string;
  /** The run that the text was copied from, if any. */
  readonly edit: Edit | undefined;
}

const nothing: Message = { text: "", edit: undefined };

/** Unsent messages by agent, as long as the console is open. They may be personal, so they are only in memory. */
const kept = new Map<string, Message>();

/** The message in the input. It is still there after the user looks at another page. */
export function useKeptMessage(agent: string) {
  const [message, setMessage] = useState(() => kept.get(agent) ?? nothing);
  const change = useCallback(
    (changes: Partial<Message>) => {
      const next = { ...(kept.get(agent) ?? nothing), ...changes };
      kept.set(agent, next);
      setMessage(next);
    },
    [agent],
  );
  const setText = useCallback((text: string) => change({ text }), [change]);
  const setEdit = useCallback((edit: Edit | undefined) => change({ edit }), [change]);
  /** A message that was not accepted comes back, unless the user has written something else since. */
  const putBack = useCallback(
    (text: string) => {
      if ((kept.get(agent)?.text ?? "") === "") change({ text });
    },
    [agent, change],
  );
  return { ...message, setText, setEdit, putBack };
}
