import { memo, useMemo, useState } from "react";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { beginningOf, formatBytes, visiblePieces } from "./visible-text.ts";

const shownAtFirst = 5000;

const Pieces = memo(({ text }: { readonly text: string }) => {
  const pieces = useMemo(() => visiblePieces(text), [text]);
  return pieces.map((piece, index) =>
    piece.isMark ? (
      <span
        key={index}
        title="A character that is not visible"
        className="rounded bg-warning-soft px-0.5 font-mono text-[0.85em] text-warning"
      >
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
});

interface OutsideTextProps {
  /** Text that did not come from the console: a name, a message, a tool's result. */
  readonly text: string;
  /** A paragraph that keeps its line breaks, instead of a part of a line. */
  readonly block?: boolean;
  readonly className?: string;
}

/**
 * Text from outside. It is shown as plain text with its own direction, which does not affect its neighbours. Invisible characters are made
 * visible, and long words wrap. A long text shows its beginning until the user expands it.
 */
export function OutsideText({ text, block = false, className }: OutsideTextProps) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? text : beginningOf(text, shownAtFirst);
  const Element = block ? "div" : "span";
  return (
    <>
      <Element
        dir="auto"
        className={classNames(
          "[overflow-wrap:anywhere] [unicode-bidi:isolate]",
          block && "whitespace-pre-wrap",
          className,
        )}
      >
        <Pieces text={shown} />
        {shown.length < text.length && "…"}
      </Element>
      {shown.length < text.length && (
        <Button kind="plain" className="my-1 h-6 px-2 text-small" onClick={() => setIsWhole(true)}>
          Show all ({formatBytes(new Blob([text]).size)})
        </Button>
      )}
    </>
  );
}
