import { Link } from "@tanstack/react-router";
import type { LogLine } from "../../../api/logs-queries.ts";
import { Ago, exactTime } from "../../../parts/ago.tsx";
import { ContentView } from "../../../parts/content-view.tsx";
import { DetailPane } from "../../../parts/detail-pane.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { LevelMark } from "./level-mark.tsx";

interface LineDetailProps {
  readonly agent: string;
  readonly line: LogLine;
  readonly onClose: () => void;
}

const Title = ({ line }: { readonly line: LogLine }) => (
  <>
    <LevelMark level={line.level} />
    <Ago at={line.timestamp} />
    <span className="font-mono font-normal text-muted text-small">{exactTime(new Date(line.timestamp))}</span>
  </>
);

/** One line: its whole message, its fields, and its run. */
export function LineDetail({ agent, line, onClose }: LineDetailProps) {
  const { request_id: run, ...fields } = line.metadata;
  return (
    <DetailPane title={<Title line={line} />} what="the line" onClose={onClose}>
      {run && (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-table">
          <IdText id={run} what="the request id" />
          <Link to="/runs/$agent/$run" params={{ agent, run }} className={textLinkClass}>
            Open the run
          </Link>
        </p>
      )}
      <ContentView key={line.id} title="Message" what="the message" value={line.message} />
      {Object.keys(fields).length > 0 && <ContentView title="Metadata" what="the metadata" value={fields} />}
    </DetailPane>
  );
}
