import { memo } from "react";
import { classNames } from "../../../parts/class-names.ts";
import { visiblePieces } from "../../../parts/visible-text.ts";
import { blocksOf } from "./long-text.ts";

interface BlockProps {
  readonly text: string;
  /** More blocks follow, so this one is not laid out while it is out of sight. */
  readonly isComplete: boolean;
}

const Block = memo(({ text, isComplete }: BlockProps) => (
  <div
    dir="auto"
    className={classNames(
      "[unicode-bidi:isolate]",
      isComplete && "[contain-intrinsic-size:auto_400px] [content-visibility:auto]",
    )}
  >
    {visiblePieces(text).map(({ text: piece, isMark }, index) =>
      isMark ? (
        <span key={index} className="rounded bg-warning-soft px-0.5 font-mono text-[0.85em] text-warning">
          {piece}
        </span>
      ) : (
        piece
      ),
    )}
  </div>
));

/** An answer while it streams. It is always shown as text, and a long one stays smooth because only its last block changes. */
export const StreamingText = ({ text }: { readonly text: string }) => (
  <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">
    {blocksOf(text).map((block, index, { length }) => (
      <Block key={index} text={block} isComplete={index < length - 1} />
    ))}
  </div>
);
