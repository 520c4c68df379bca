import type { MemoryHit } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { SearchMode } from "../../../api/memory-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { classNames } from "../../../parts/class-names.ts";
import { Icon } from "../../../parts/icon.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { explainHit, percent, shareOf } from "./explain-hit.ts";
import { markWords } from "./marked-words.ts";

interface BarProps {
  readonly name: string;
  /** From 0 to 1; undefined if this part did not find it. */
  readonly share: number | undefined;
  readonly label: string;
  readonly colour: string;
}

const Bar = ({ name, share, label, colour }: BarProps) => (
  <span className="grid grid-cols-[56px_64px_76px] items-center gap-1.5 text-small">
    <span className="text-left text-muted">{name}</span>
    <span className="h-1.5 rounded bg-line">
      {share !== undefined && (
        <span className={classNames("block h-full rounded", colour)} style={{ width: `${share * 100}%` }} />
      )}
    </span>
    <span className={classNames("text-left font-mono", share === undefined && "text-muted")}>{label}</span>
  </span>
);

const Bars = ({ hit, mode }: { readonly hit: MemoryHit; readonly mode: SearchMode }) => {
  const { vector, text } = hit.score_parts;
  return (
    <span className="flex flex-col">
      {mode !== "text" && (
        <Bar
          name="Meaning"
          share={vector ? shareOf(vector.similarity) : undefined}
          label={vector ? `#${vector.rank}, ${vector.similarity.toFixed(2)}` : "not found"}
          colour="bg-accent"
        />
      )}
      {mode !== "vector" && (
        <Bar
          name="Words"
          share={text ? shareOf(text.coverage) : undefined}
          label={text ? `#${text.rank}, ${percent(text.coverage)}` : "not found"}
          colour="bg-warning"
        />
      )}
    </span>
  );
};

/** Matched words are highlighted; the rest is plain text with its own direction. */
const MarkedText = ({ text, words }: { readonly text: string; readonly words: readonly string[] }) => (
  <span dir="auto" className="[overflow-wrap:anywhere] [unicode-bidi:isolate]">
    {markWords(text, words).map(({ text: piece, isMatch }, index) =>
      isMatch ? (
        <mark key={index} className="rounded bg-warning-soft text-text">
          {visibleText(piece)}
        </mark>
      ) : (
        visibleText(piece)
      ),
    )}
  </span>
);

interface HitProps {
  readonly agent: string;
  readonly hit: MemoryHit;
  readonly mode: SearchMode;
  readonly isOpen: boolean;
}

/** A memory found by a search, with the parts of its score. */
export function HitRow({ agent, hit, mode, isOpen }: HitProps) {
  const [isExplained, setIsExplained] = useState(false);
  const sentences = explainHit(hit, mode);
  return (
    <li className={classNames("border-line border-b px-4 py-2", isOpen ? "bg-accent-soft" : "hover:bg-sunken")}>
      <div className="flex flex-wrap items-start gap-x-6 gap-y-1">
        <div className="min-w-0 flex-1 basis-72">
          <Link
            to="/memory/$agent/$memory"
            params={{ agent, memory: hit.id }}
            search={keepSearch({ agent })}
            resetScroll={false}
            data-row
            aria-current={isOpen ? "true" : undefined}
            className="line-clamp-3 text-table hover:underline"
          >
            <MarkedText text={hit.content} words={hit.score_parts.text?.words ?? []} />
          </Link>
          <p className="text-muted text-small">
            {hit.user_id === null ? "of no user" : <OutsideText text={hit.user_id} />}, stored{" "}
            <Ago at={hit.updated_at} />
          </p>
        </div>
        <button
          type="button"
          aria-expanded={isExplained}
          title={sentences.join(" ")}
          onClick={() => setIsExplained(!isExplained)}
          className="flex items-center gap-2 rounded p-1 hover:bg-sunken"
        >
          <span className="sr-only">Explain the score: </span>
          <Bars hit={hit} mode={mode} />
          <span className="w-12 text-right font-mono text-table">{hit.score.toFixed(3)}</span>
          <Icon name="down" className={classNames("size-3.5 text-muted", isExplained && "rotate-180")} />
        </button>
      </div>
      {isExplained && (
        <ul className="mt-1 max-w-3xl text-muted text-table">
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          {hit.score_parts.text && (
            <li>
              Matched words, as the index has them:{" "}
              <OutsideText text={hit.score_parts.text.words.join(", ")} className="font-mono text-small" />
            </li>
          )}
        </ul>
      )}
    </li>
  );
}
