import { useCallback, useState } from "react";
import type { Edit } from "./edit.ts";

interface Message {
  readonly text: string;
  /** Where the text is from, if it was taken from a run. */
  readonly edit: Edit | undefined;
}

const nothing: Message = { text: "", edit: undefined };

/** What was written to each agent and not sent, as long as the console is open. It may be personal, so it is stored nowhere. */
const kept = new Map<string, Message>();

/** The message in the input. It is there again for whoever looks at another page meanwhile. */
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
  /** A message that was not accepted comes back, unless something else was written since. */
  const putBack = useCallback(
    (text: string) => {
      if ((kept.get(agent)?.text ?? "") === "") change({ text });
    },
    [agent, change],
  );
  return { ...message, setText, setEdit, putBack };
}
