import type { InstalledRelease } from "@perch/sdk";
import { Ago } from "../../../parts/ago.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { formatCount } from "../../../parts/duration.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { type MarkedStatus, StatusMark } from "../../../parts/status-mark.tsx";
import { Cell, RowName, Table, wideOnly } from "../../../parts/table.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { describeRelease } from "../release-words.ts";

const columns = [
  { title: "Release", className: "md:w-44" },
  { title: "State", className: "w-40" },
  { title: "Since", className: `${wideOnly} w-28` },
  { title: "Runs", className: `${wideOnly} w-20 text-right` },
  { title: "Workers at", className: `${wideOnly} w-[21rem]` },
  { title: "What to know", className: wideOnly },
];

const marks: Readonly<Record<InstalledRelease["state"], MarkedStatus>> = {
  takes_new_runs: "active",
  ends_its_runs: "running",
  superseded: "superseded",
  can_be_retired: "completed",
  has_no_worker_yet: "pending",
};

/** The text wraps, because on a narrow screen one long line would push the other columns out of sight. */
const RetireCommand = ({ id }: { readonly id: string }) => {
  const command = `perch-server retire --id ${visibleText(id)}`;
  return (
    <span className="block">
      <code className="font-mono text-small [overflow-wrap:anywhere]">{command}</code>
      <CopyButton text={command} what="the command" className="align-middle" />
    </span>
  );
};

function Remark({ release }: { readonly release: InstalledRelease }) {
  return (
    <>
      {describeRelease(release)}
      {release.state === "can_be_retired" && release.deployment_id !== null && (
        <RetireCommand id={release.deployment_id} />
      )}
    </>
  );
}

const Row = ({ release }: { readonly release: InstalledRelease }) => (
  <tr className="align-top [&>*]:pt-1.5">
    <RowName>
      <OutsideText text={release.release ?? "before 0.2.0"} className="font-mono" />
      <div className="flex flex-col gap-0.5 pb-1 text-muted text-small md:hidden">
        <span>
          {formatCount(release.runs)} runs, since <Ago at={release.since} />
        </span>
        {release.address !== null && <OutsideText text={release.address} className="font-mono" />}
        <span>
          <Remark release={release} />
        </span>
      </div>
    </RowName>
    <Cell>
      <StatusMark status={marks[release.state]} word={release.state.replaceAll("_", " ")} />
    </Cell>
    <Cell className={wideOnly}>
      <Ago at={release.since} />
    </Cell>
    <Cell className={`${wideOnly} text-right tabular-nums`}>{formatCount(release.runs)}</Cell>
    <Cell className={wideOnly}>
      {release.address !== null && <OutsideText text={release.address} className="font-mono text-small" />}
    </Cell>
    <Cell className={wideOnly}>
      <Remark release={release} />
    </Cell>
  </tr>
);

/** The releases that the engine knows. Workers of a release may be removed when no run is bound to it. */
export const ReleaseTable = ({ releases }: { readonly releases: readonly InstalledRelease[] }) => (
  <Table caption="Releases" columns={columns}>
    {releases.map((release) => (
      <Row key={release.deployment_id ?? release.release} release={release} />
    ))}
  </Table>
);
