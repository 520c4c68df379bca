import type { Agent, VersionSummary } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useKeyName } from "../../../lists/use-key-name.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Button, buttonClass } from "../../../parts/button.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { useCan } from "../../../session/session.ts";
import { RollBack } from "../deploy/roll-back.tsx";
import type { ServedEnvironment } from "../live-deployments.ts";

interface VersionTableProps {
  readonly agent: Agent;
  readonly versions: readonly VersionSummary[];
  readonly served: readonly ServedEnvironment[];
  readonly onDeploy: (version: string) => void;
}

const cell = "h-8 border-line border-b px-2 py-0.5";

const WhereLive = ({
  version,
  served,
}: {
  readonly version: string;
  readonly served: readonly ServedEnvironment[];
}) => (
  <span className="flex flex-wrap gap-x-3">
    {served.map(({ environment, live, canary }) => (
      <span key={environment} className="contents">
        {live?.version === version && <StatusMark status="active" word={environment} />}
        {canary?.version === version && (
          <StatusMark status="canary" word={`${environment} ${canary.traffic_percent} %`} />
        )}
      </span>
    ))}
  </span>
);

const Head = () => (
  <thead className="sticky top-0 bg-page text-left text-muted text-small shadow-[inset_0_-1px_0_var(--line)]">
    <tr className="h-8">
      <th scope="col" className="px-2 pl-4 font-medium">
        Version
      </th>
      <th scope="col" className="px-2 font-medium">
        Live in
      </th>
      <th scope="col" className="px-2 font-medium max-sm:hidden">
        Created by
      </th>
      <th scope="col" className="px-2 font-medium max-sm:hidden">
        Created
      </th>
      <th scope="col" className="px-2 pr-4">
        <span className="sr-only">Actions</span>
      </th>
    </tr>
  </thead>
);

export function VersionTable({ agent, versions, served, onDeploy }: VersionTableProps) {
  const canWrite = useCan("write");
  const nameOf = useKeyName();
  return (
    <>
      {canWrite && (
        <div className="flex flex-wrap gap-2 px-4 pt-3 pb-1 empty:hidden">
          {served.map(
            ({ environment, live, canary }) =>
              live && <RollBack key={environment} agent={agent.name} live={live} canary={canary} />,
          )}
        </div>
      )}
      <table className="w-full border-separate border-spacing-0 text-table">
        <caption className="sr-only">Versions of {agent.name}, newest first</caption>
        <Head />
        <tbody>
          {versions.map(({ version, created_by, created_at }) => (
            <tr key={version} className="hover:bg-sunken">
              <th scope="row" className={`${cell} pl-4 text-left font-medium font-mono [overflow-wrap:anywhere]`}>
                {version}
                <span className="block font-normal font-sans text-muted text-small sm:hidden">
                  <Ago at={created_at} />
                </span>
              </th>
              <td className={cell}>
                <WhereLive version={version} served={served} />
              </td>
              <td className={`${cell} max-w-40 truncate text-muted max-sm:hidden`} title={created_by ?? undefined}>
                {visibleText(nameOf(created_by))}
              </td>
              <td className={`${cell} text-muted max-sm:hidden`}>
                <Ago at={created_at} />
              </td>
              <td className={`${cell} whitespace-nowrap pr-2 text-right`}>
                <Link
                  to="/agents/$agent/versions"
                  params={{ agent: agent.name }}
                  search={(search) => ({ ...search, shown: version })}
                  replace
                  aria-label={`Show the definition of ${version}`}
                  className={buttonClass("quiet", "h-7 px-2")}
                >
                  Show
                </Link>
                <Link
                  to="/agents/$agent/versions"
                  params={{ agent: agent.name }}
                  search={(search) => ({ ...search, from: version, to: "draft", shown: undefined })}
                  replace
                  aria-label={`Compare ${version} with the draft`}
                  className={buttonClass("quiet", "h-7 px-2")}
                >
                  Compare
                </Link>
                {canWrite && (
                  <Button
                    kind="quiet"
                    className="h-7 px-2"
                    aria-label={`Deploy ${version}`}
                    onClick={() => onDeploy(version)}
                  >
                    Deploy
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
