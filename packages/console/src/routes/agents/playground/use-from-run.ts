import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { runQuery } from "../../../api/runs-queries.ts";
import type { PlaygroundState } from "./use-playground.ts";

/** Applies `from` in the address once: copies that run's message, user and version. Other values in the address stay. */
export function useFromRun(agent: string, state: PlaygroundState, focusInput: () => void) {
  const { search, change, edit, setText, setEdit } = state;
  const { from, version, user } = search;
  // Edits stay if the user looks at another page meanwhile.
  const taken = useRef(edit?.runId);
  const { data: run, error } = useQuery({ ...runQuery(agent, from ?? ""), enabled: from !== undefined });
  useEffect(() => {
    if (from === undefined || run?.request_id !== from || taken.current === from) return;
    taken.current = from;
    setText(run.message);
    setEdit({ runId: from, session: run.session_id ?? undefined, continues: false });
    void change({ version: version ?? run.version ?? "draft", user: user ?? run.user_id ?? undefined });
    focusInput();
  }, [run, from, version, user, change, setText, setEdit, focusInput]);
  return from === undefined ? null : error;
}
