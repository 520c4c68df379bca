import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type KeyboardEvent, useCallback, useEffect, useRef } from "react";
import { versionChoicesQuery } from "../../api/playground-queries.ts";
import { ErrorNote } from "../../parts/error-note.tsx";
import { useCan } from "../../session/session.ts";
import { Composer } from "./playground/composer.tsx";
import { Controls } from "./playground/controls.tsx";
import { EditNote } from "./playground/edit-note.tsx";
import { FinishedAnswer } from "./playground/finished-answer.tsx";
import { Lane } from "./playground/lane.tsx";
import type { Turn } from "./playground/turn.ts";
import { useFromRun } from "./playground/use-from-run.ts";
import { usePlayground } from "./playground/use-playground.ts";
import { choiceLabel, choiceOptions, environmentOf } from "./playground/version-choice.ts";

/** Another agent has other turns: nothing of the one before is kept. */
export function Playground() {
  const { agent } = useParams({ from: "/signed-in/agents/$agent/playground" });
  return <PlaygroundOf key={agent} agent={agent} />;
}

/** A phone would open its keyboard over the page. */
const hasRoomForFocus = () => matchMedia("(min-width: 768px)").matches;

function PlaygroundOf({ agent }: { readonly agent: string }) {
  const state = usePlayground(agent);
  const { search, change, sides, text, setText, edit, setEdit, send, stop, follow, isRunning } = state;
  const mayRun = useCan("write");
  const input = useRef<HTMLTextAreaElement>(null);
  const focusInput = useCallback(() => input.current?.focus(), []);
  useEffect(() => {
    if (hasRoomForFocus()) focusInput();
  }, [focusInput]);
  const fromError = useFromRun(agent, state, focusInput);
  const { data: choices, error } = useQuery(versionChoicesQuery(agent));
  const live = choices?.live ?? [];
  const labelOf = (choice: string | undefined) => choiceLabel(choice, search.env, live);

  const onEdit = (turn: Turn) => {
    setText(turn.message);
    setEdit({ runId: turn.runId, session: search.session, continues: false });
    focusInput();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || !isRunning) return;
    stop();
    focusInput();
  };
  const optionsOf = (chosen: string | undefined) => choiceOptions(chosen, search.env, live, choices?.versions ?? []);
  const compared = optionsOf(search.compare).map((option) =>
    option.value === "" ? { ...option, value: `live:${environmentOf(undefined, search.env)}` } : option,
  );

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc stops the run wherever the focus is.
    <div className="flex h-full min-h-0 flex-col" onKeyDown={onKeyDown}>
      <Controls
        search={search}
        versions={optionsOf(search.version)}
        compared={[{ value: "", label: "Nothing" }, ...compared]}
        summary={[labelOf(search.version), search.user && `as ${search.user}`, search.session ?? "new session"]
          .filter(Boolean)
          .join(" · ")}
        onChange={(changes) => void change(changes)}
        onNewSession={() => {
          setEdit(undefined);
          void change({ session: undefined }, false);
          focusInput();
        }}
      />
      {(error ?? fromError) && <ErrorNote error={error ?? fromError} />}
      <div className="flex min-h-0 flex-1 flex-col md:flex-row">
        {sides.map(({ choice, conversation }, index) => (
          <Lane
            key={index}
            agent={agent}
            title={sides.length > 1 ? labelOf(choice) : undefined}
            conversation={conversation}
            others={sides.length > 1 ? sides[1 - index]?.conversation.turns : undefined}
            onEdit={mayRun ? onEdit : undefined}
            onFollow={follow}
          />
        ))}
      </div>
      <FinishedAnswer sides={sides} />
      {mayRun ? (
        <Composer
          agent={agent}
          inputRef={input}
          text={text}
          onText={setText}
          isRunning={isRunning}
          onSend={() => {
            send();
            focusInput();
          }}
          onStop={() => {
            stop();
            focusInput();
          }}
        >
          {edit && <EditNote agent={agent} edit={edit} onChange={setEdit} onDiscard={() => setEdit(undefined)} />}
        </Composer>
      ) : (
        <p className="border-line border-t px-4 py-3 text-muted text-table">
          You can read this conversation. To send messages, sign in with a key that has the permission write.
        </p>
      )}
    </div>
  );
}
