import type { Deployment } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useDeployerName } from "../../../lists/use-deployer-name.ts";
import { Ago, useSlowClock } from "../../../parts/ago.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { formatSpan } from "../../../parts/span.ts";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { DeploymentMark } from "../deploy/deployment-mark.tsx";

/** These need more room than a comparison beside the table leaves. */
const amplyOnly = "@max-4xl:hidden";

const columns = [
  { title: "Version" },
  { title: "Status" },
  { title: "Environment", className: roomyOnly },
  { title: "Traffic", className: `${roomyOnly} text-right` },
  { title: "By", className: amplyOnly },
  { title: "Created", className: amplyOnly },
  { title: "Served for", className: amplyOnly },
  { title: "Why it ended", className: amplyOnly },
  { title: "Compare", className: "text-right" },
];

/** How long it has served requests; empty if it never did. */
const servedFor = ({ activated_at, ended_at }: Deployment, now: Date): string =>
  activated_at === null
    ? "–"
    : formatSpan((ended_at === null ? now.getTime() : Date.parse(ended_at)) - Date.parse(activated_at));

interface DeploymentTableProps {
  readonly agent: string;
  readonly deployments: readonly Deployment[];
  readonly compared: readonly string[];
  readonly onCompare: (id: string) => void;
}

/** The same as the timeline, newest first. Two of the rows can be chosen to be compared. */
export function DeploymentTable({ agent, deployments, compared, onCompare }: DeploymentTableProps) {
  const deployerOf = useDeployerName(deployments);
  const now = useSlowClock();
  return (
    <Table caption="Deployments, newest first" columns={columns}>
      {deployments.map((deployment) => {
        const { id, version, environment, traffic_percent, created_at, error } = deployment;
        const why = error && <OutsideText text={error} className="line-clamp-2 text-muted" />;
        return (
          <tr key={id} className="hover:bg-sunken">
            <RowName>
              <Link
                to="/agents/$agent/deployments/$deployment"
                params={{ agent, deployment: id }}
                className="font-medium font-mono underline decoration-line-strong underline-offset-2 [overflow-wrap:anywhere]"
              >
                {version}
              </Link>
              <span className="block text-muted text-small @4xl:hidden">
                <span className={tightOnly}>{environment}, </span>
                <Ago at={created_at} />, by <OutsideText text={deployerOf(deployment)} />
                {why}
              </span>
            </RowName>
            <Cell className="whitespace-nowrap">
              <DeploymentMark deployment={deployment} />
            </Cell>
            <Cell className={roomyOnly}>{environment}</Cell>
            <Cell className={`${roomyOnly} whitespace-nowrap text-right`}>{traffic_percent} %</Cell>
            <Cell className={`${amplyOnly} max-w-40 text-muted`}>
              <OutsideText text={deployerOf(deployment)} className="line-clamp-1" />
            </Cell>
            <Cell className={`${amplyOnly} text-muted`}>
              <Ago at={created_at} />
            </Cell>
            <Cell className={`${amplyOnly} whitespace-nowrap text-muted`}>{servedFor(deployment, now)}</Cell>
            <Cell className={`${amplyOnly} max-w-96`}>{why}</Cell>
            <Cell className="text-right">
              <input
                type="checkbox"
                aria-label={`Compare ${version} in ${environment}, ${id.slice(-6)}`}
                checked={compared.includes(id)}
                onChange={() => onCompare(id)}
                className="size-4 align-middle accent-accent"
              />
            </Cell>
          </tr>
        );
      })}
    </Table>
  );
}
