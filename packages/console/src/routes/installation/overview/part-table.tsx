import type { InstallationPart } from "@perch/sdk";
import { formatDuration } from "../../../parts/duration.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Cell, RowName, Table, wideOnly } from "../../../parts/table.tsx";
import { marks, partNames, whenSilent } from "../part-words.ts";

const columns = [
  { title: "Part", className: "md:w-44" },
  { title: "Status", className: "w-36" },
  { title: "Address", className: `${wideOnly} w-[21rem]` },
  { title: "Answered in", className: `${wideOnly} w-28 text-right` },
  { title: "What to know", className: wideOnly },
];

const migrate = (
  <>
    Run <code className="font-mono">perch-server migrate</code> with this release.
  </>
);

function Remark({ part: { name, status, message } }: { readonly part: InstallationPart }) {
  return (
    <span className={status === "not_configured" ? "text-muted" : undefined}>
      {message !== null && (
        <>
          <OutsideText text={message.charAt(0).toUpperCase() + message.slice(1)} />.{" "}
        </>
      )}
      {status === "silent" && whenSilent[name]}
      {status === "degraded" && migrate}
    </span>
  );
}

const PartRow = ({ part }: { readonly part: InstallationPart }) => (
  <tr className="align-top [&>*]:pt-1.5">
    <RowName>
      {partNames[part.name]}
      <div className="flex flex-col gap-0.5 pb-1 text-muted text-small md:hidden">
        {part.address !== null && <OutsideText text={part.address} className="font-mono" />}
        {part.latency_ms !== null && <span>Answered in {formatDuration(part.latency_ms)}</span>}
        <Remark part={part} />
      </div>
    </RowName>
    <Cell>
      <StatusMark status={marks[part.status]} word={part.status.replace("_", " ")} />
    </Cell>
    <Cell className={wideOnly}>
      {part.address !== null && <OutsideText text={part.address} className="font-mono text-small" />}
    </Cell>
    <Cell className={`${wideOnly} text-right tabular-nums`}>
      {part.latency_ms === null ? "" : formatDuration(part.latency_ms)}
    </Cell>
    <Cell className={wideOnly}>
      <Remark part={part} />
    </Cell>
  </tr>
);

/** Each part as the node that answered sees it, with instructions for a silent one. */
export const PartTable = ({ parts }: { readonly parts: readonly InstallationPart[] }) => (
  <Table caption="Parts of the installation" columns={columns}>
    {parts.map((part) => (
      <PartRow key={`${part.name} ${part.address ?? ""}`} part={part} />
    ))}
  </Table>
);
