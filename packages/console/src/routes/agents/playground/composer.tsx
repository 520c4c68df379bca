import { type KeyboardEvent, type ReactNode, type RefObject, useId } from "react";
import { Button } from "../../../parts/button.tsx";
import { controlClass } from "../../../parts/field.tsx";

interface ComposerProps {
  readonly agent: string;
  readonly inputRef: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly isRunning: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly children: ReactNode;
}

const isSendKey = (event: KeyboardEvent): boolean =>
  // Enter also ends the composition of a character, in Japanese for one.
  event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing;

/** One input for one version or for two. The focus stays in it. */
export function Composer({ agent, inputRef, text, onText, isRunning, onSend, onStop, children }: ComposerProps) {
  const hintId = useId();
  const canSend = !isRunning && text.trim() !== "";
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isSendKey(event)) return;
    event.preventDefault();
    if (canSend) onSend();
  };
  return (
    <div className="flex flex-col gap-2 border-line border-t bg-surface px-4 py-3">
      {children}
      <div className="flex items-end gap-2">
        <textarea
          ref={inputRef}
          aria-label={`Message to ${agent}`}
          aria-describedby={hintId}
          placeholder={`Message to ${agent}`}
          rows={2}
          dir="auto"
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
          className={`${controlClass} field-sizing-content max-h-52 min-h-14 resize-none`}
        />
        {isRunning ? (
          <Button onClick={onStop}>Stop run</Button>
        ) : (
          <Button kind="primary" disabled={!canSend} onClick={onSend}>
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
