import { useParams } from "@tanstack/react-router";
import { ErrorNote } from "../../parts/error-note.tsx";
import { MayNot } from "../../parts/may-not.tsx";
import { useCan } from "../../session/session.ts";
import { Composer } from "./playground/composer.tsx";
import { Controls } from "./playground/controls.tsx";
import { FinishedAnswer } from "./playground/finished-answer.tsx";
import { Lane } from "./playground/lane.tsx";
import { useFromRun } from "./playground/use-from-run.ts";
import { usePlayground } from "./playground/use-playground.ts";
import { usePlaygroundInput } from "./playground/use-playground-input.ts";
import { useVersionOptions } from "./playground/use-version-options.ts";

/** Another agent has other turns, so no state is carried over. */
export function Playground() {
  const { agent } = useParams({ from: "/signed-in/agents/$agent/playground" });
  return <PlaygroundOf key={agent} agent={agent} />;
}

function PlaygroundOf({ agent }: { readonly agent: string }) {
  const state = usePlayground(agent);
  const { search, change, sides } = state;
  const mayRun = useCan("write");
  const input = usePlaygroundInput(state);
  const fromError = useFromRun(agent, state, input.focus);
  const options = useVersionOptions(agent, search);
  const error = fromError ?? options.error;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc stops the run wherever the focus is.
    <div className="flex h-full min-h-0 flex-col" onKeyDown={input.onKeyDown}>
      <Controls
        search={search}
        options={options}
        onChange={(changes) => void change(changes)}
        onNewSession={mayRun ? input.onNewSession : undefined}
      />
      {error && <ErrorNote error={error} />}
      <div className="flex min-h-0 flex-1 flex-col md:flex-row">
        {sides.map(({ choice, conversation }, index) => (
          <Lane
            key={index}
            agent={agent}
            title={sides.length > 1 ? options.labelOf(choice) : undefined}
            conversation={conversation}
            others={sides.length > 1 ? sides[1 - index]?.conversation.turns : undefined}
            onEdit={mayRun ? input.onEdit : undefined}
            onFollow={state.follow}
          />
        ))}
      </div>
      <FinishedAnswer sides={sides} />
      {mayRun ? (
        <Composer agent={agent} state={state} input={input} />
      ) : (
        <div className="border-line border-t px-4 py-3 text-table">
          <MayNot what="send messages" permission="write" />
        </div>
      )}
    </div>
  );
}
