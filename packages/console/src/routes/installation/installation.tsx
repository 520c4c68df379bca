import type { Installation as InstallationData } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { installationQuery } from "../../api/installation-queries.ts";
import { Ago } from "../../parts/ago.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Page } from "../../parts/page.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { Working } from "../../parts/working.tsx";
import { useMe } from "../../session/session.ts";
import { NotOperator } from "./not-operator.tsx";
import { Figures } from "./overview/figures.tsx";
import { PartTable } from "./overview/part-table.tsx";
import { ReleaseTable } from "./overview/release-table.tsx";
import { marks, summaryOf, whyNoReleases } from "./part-words.ts";

const sectionTitle = "px-4 pt-5 pb-2 text-body";

/** The node that answered, and the overall state. */
const Facts = ({ data }: { readonly data: InstallationData }) => {
  const { status, text } = summaryOf(data.parts);
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-3 text-table">
      <span role="status">
        <StatusMark status={marks[status]} word={text} />
      </span>
      <span className="text-muted">
        Version <OutsideText text={data.version} className="font-mono text-text" />
      </span>
      <span className="text-muted">
        Answered by <OutsideText text={data.node.name} className="font-mono text-text" />, started{" "}
        <Ago at={data.node.started_at} />
      </span>
    </div>
  );
};

const Contents = ({ data }: { readonly data: InstallationData }) => (
  <>
    <h2 className={sectionTitle}>Parts</h2>
    <PartTable parts={data.parts} />
    <h2 className={sectionTitle}>Numbers</h2>
    <Figures installation={data} />
    <h2 className={sectionTitle}>Releases</h2>
    {data.releases ? (
      <ReleaseTable releases={data.releases} />
    ) : (
      <p className="px-4 pb-6 text-muted text-table">
        {whyNoReleases(data.parts)} Where the admin port is reached,{" "}
        <code className="font-mono">perch-server releases</code> lists them, too.
      </p>
    )}
    <p className="px-4 py-4 text-muted text-small">
      The pages docs/operations/failures.md and alerts.md describe what to do about each failure. Where a worker runs,{" "}
      <code className="font-mono">perch-server doctor</code>
      <CopyButton text="perch-server doctor" what="the command" className="align-middle" />
      checks the settings, too.
    </p>
  </>
);

/** The last answer stays, with its age, until a newer one arrives: an operator may need it to find the cause. */
const Stale = ({
  at,
  error,
  onRetry,
}: {
  readonly at: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}) => (
  <div className="px-4 pt-3">
    <ErrorNote error={error} onRetry={onRetry}>
      <p>
        The state below was read <Ago at={at} />.
      </p>
    </ErrorNote>
  </div>
);

export function Installation() {
  const { key } = useMe();
  const mayOperate = key.permissions.includes("operate") && key.agent_id === null;
  const { data, error, isPending, refetch } = useQuery({ ...installationQuery, enabled: mayOperate });
  const retry = () => void refetch();
  if (!mayOperate)
    return (
      <Page title="Installation" width="form">
        <NotOperator />
      </Page>
    );
  return (
    <Page title="Installation" below={data && <Facts data={data} />}>
      {isPending && <Working what="the installation" />}
      {error && !data && (
        <div className="p-4">
          <ErrorNote error={error} onRetry={retry} />
        </div>
      )}
      {error && data && <Stale at={data.checked_at} error={error} onRetry={retry} />}
      {data && <Contents data={data} />}
    </Page>
  );
}
