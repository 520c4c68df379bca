import type { InvocationContext } from "@perch/sdk";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { useUnsaved } from "../../../session/unsaved.ts";
import type { PlaygroundSearch } from "../playground-search.ts";
import { nextSession, sessionOfSide } from "./edit.ts";
import type { Turn } from "./turn.ts";
import { type Conversation, useConversation } from "./use-conversation.ts";
import { useKeptMessage } from "./use-kept-message.ts";
import { type Turns, useTurns } from "./use-turns.ts";
import { contextOf, type VersionChoice } from "./version-choice.ts";

const from = "/signed-in/agents/$agent/playground";

/** One side of a comparison: a version, in its own session. */
export interface Side {
  readonly choice: VersionChoice;
  readonly conversation: Conversation;
}

const sessionOf = (session: string | undefined, compared: string | undefined): string | undefined =>
  session === undefined || compared === undefined ? undefined : sessionOfSide(session, compared);

export function usePlayground(agent: string) {
  const search = useSearch({ from });
  const navigate = useNavigate({ from: "/agents/$agent/playground" });
  const { text, setText, edit, setEdit, putBack } = useKeptMessage(agent);
  const turns: Turns = useTurns(putBack);
  const [begunHere, setBegunHere] = useState<ReadonlySet<string>>(new Set());
  const { session, version, compare, user, env } = search;

  const change = useCallback(
    (changes: Partial<PlaygroundSearch>, replace = true) =>
      navigate({ search: (now) => ({ ...now, ...changes }), replace }),
    [navigate],
  );

  const isBegunHere = session !== undefined && begunHere.has(session);
  const first = useConversation(agent, session, turns, isBegunHere);
  const second = useConversation(agent, sessionOf(session, compare), turns, isBegunHere);
  const sides: Side[] = [{ choice: version, conversation: first }];
  if (compare !== undefined) sides.push({ choice: compare, conversation: second });

  const send = () => {
    const { id, isNew } = nextSession(session, edit);
    if (isNew) setBegunHere((begun) => new Set([...begun, id]));
    for (const [index, { choice }] of sides.entries()) {
      const ofSide = index === 0 ? id : sessionOfSide(id, compare ?? "");
      const context: InvocationContext = { ...contextOf(choice, env), session_id: ofSide, user_id: user };
      turns.send(agent, ofSide, { message: text, context });
    }
    setText("");
    setEdit(undefined);
    // An earlier conversation stays one step back in the history. Navigating to the same address again would restore the scroll position.
    if (session !== id || search.from !== undefined)
      void change({ session: id, from: undefined }, session === undefined);
  };

  const running = sides.flatMap(({ conversation }) => conversation.turns.filter(({ status }) => status === "running"));
  useUnsaved(text.trim() !== "" || running.some(({ runId }) => runId === undefined));
  const stop = () => {
    for (const turn of running) if (!turn.isStopping) turns.stop(agent, turn);
  };
  const follow = (turn: Turn) => turns.follow(agent, turn);
  return { search, change, sides, text, setText, edit, setEdit, send, stop, follow, isRunning: running.length > 0 };
}

export type PlaygroundState = ReturnType<typeof usePlayground>;
