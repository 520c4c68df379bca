import { type KeyboardEvent, useId } from "react";
import { Button } from "../../../parts/button.tsx";
import { controlClass } from "../../../parts/field.tsx";
import { EditNote } from "./edit-note.tsx";
import type { PlaygroundState } from "./use-playground.ts";
import type { usePlaygroundInput } from "./use-playground-input.ts";

interface ComposerProps {
  readonly agent: string;
  readonly state: PlaygroundState;
  readonly input: ReturnType<typeof usePlaygroundInput>;
}

const isSendKey = (event: KeyboardEvent): boolean =>
  // Enter also ends the composition of a character, for example in Japanese.
  event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing;

/** One input for one version or for two. The focus stays in it. */
export function Composer({ agent, state, input }: ComposerProps) {
  const hintId = useId();
  const { text, setText, edit, setEdit, isRunning } = state;
  const canSend = !isRunning && text.trim() !== "";
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isSendKey(event)) return;
    event.preventDefault();
    if (canSend) input.onSend();
  };
  return (
    <div className="flex flex-col gap-2 border-line border-t bg-surface px-4 py-3">
      {edit && <EditNote agent={agent} edit={edit} onChange={setEdit} onDiscard={() => setEdit(undefined)} />}
      <div className="flex items-end gap-2">
        <textarea
          ref={input.ref}
          aria-label={`Message to ${agent}`}
          aria-describedby={hintId}
          placeholder={`Message to ${agent}`}
          rows={2}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          className={`${controlClass} field-sizing-content max-h-52 min-h-14 resize-none`}
        />
        {isRunning ? (
          <Button onClick={input.onStop}>Stop run</Button>
        ) : (
          <Button kind="primary" disabled={!canSend} onClick={input.onSend}>
            Send message
          </Button>
        )}
      </div>
      <p id={hintId} className="hidden text-muted text-small md:block">
        {isRunning ? "Esc stops the run." : "Enter sends, Shift+Enter begins a new line."}
      </p>
    </div>
  );
}
