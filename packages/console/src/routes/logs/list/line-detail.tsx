import { Link } from "@tanstack/react-router";
import type { KeyboardEvent } from "react";
import type { LogLine } from "../../../api/logs-queries.ts";
import { Ago, exactTime } from "../../../parts/ago.tsx";
import { ContentView } from "../../../parts/content-view.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { useMedia } from "../../../parts/use-media.ts";
import { LevelMark } from "./level-mark.tsx";

interface LineDetailProps {
  readonly agent: string;
  readonly line: LogLine;
  readonly onClose: () => void;
}

/** One line: all of its message, what was logged with it, and the run it belongs to. */
export function LineDetail({ agent, line, onClose }: LineDetailProps) {
  const Heading = useMedia("(min-width: 1024px)") ? "h2" : "h1";
  const { request_id: run, ...fields } = line.metadata;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.defaultPrevented) onClose();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the line from anywhere in it.
    <div className="flex h-full min-h-0 flex-col gap-4 overflow-auto p-4" onKeyDown={onKeyDown}>
      <header className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          <Heading className="flex items-center gap-3 font-medium text-body">
            <LevelMark level={line.level} />
            <Ago at={line.timestamp} />
          </Heading>
          <p className="mt-1 font-mono text-muted text-small">{exactTime(new Date(line.timestamp))}</p>
        </div>
        <button
          type="button"
          aria-label="Close the line"
          title="Close the line (Esc)"
          onClick={onClose}
          className="rounded p-1.5 text-muted hover:bg-sunken hover:text-text"
        >
          <Icon name="cross" />
        </button>
      </header>
      {run && (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
          <IdText id={run} what="the request id" />
          <Link to="/runs/$agent/$run" params={{ agent, run }} className="text-accent underline">
            Open the run
          </Link>
        </p>
      )}
      <ContentView title="Message" what="the message" value={line.message} />
      {Object.keys(fields).length > 0 && <ContentView title="Metadata" what="the metadata" value={fields} />}
    </div>
  );
}
