import { memo } from "react";
import { visiblePieces } from "../../../parts/visible-text.ts";
import { blocksOf } from "./long-text.ts";

const Block = memo(({ text }: { readonly text: string }) => (
  // What is out of sight is not laid out.
  <div dir="auto" className="[contain-intrinsic-size:auto_400px] [content-visibility:auto] [unicode-bidi:isolate]">
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

/** An answer while it comes. It is text, whatever it holds, and a long one stays smooth: only its last block changes. */
export const StreamingText = ({ text }: { readonly text: string }) => (
  <div className="whitespace-pre-wrap [overflow-wrap:anywhere]">
    {blocksOf(text).map((block, index) => (
      <Block key={index} text={block} />
    ))}
  </div>
);
