import type { DeploymentOfAnyAgent } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { useDeployerName } from "../../../lists/use-deployer-name.ts";
import { Ago } from "../../../parts/ago.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Cell, RowName, Table, wideOnly } from "../../../parts/table.tsx";
import { DeploymentMark } from "../../agents/deploy/deployment-mark.tsx";

const columns = [
  { title: "Deployment" },
  { title: "Status" },
  { title: "Environment", className: wideOnly },
  { title: "By", className: wideOnly },
  { title: "Created", className: "text-right md:text-left" },
  { title: "Why it ended", className: wideOnly },
];

export function AllDeploymentsTable({ deployments }: { readonly deployments: readonly DeploymentOfAnyAgent[] }) {
  const deployerOf = useDeployerName(deployments);
  return (
    <Table caption="Deployments, newest first" columns={columns}>
      {deployments.map((deployment) => {
        const { id, agent_name, version, environment, created_at, error } = deployment;
        const why = error !== null && <OutsideText text={error} className="line-clamp-2 text-muted" />;
        return (
          <tr key={id} className="relative hover:bg-sunken">
            <RowName>
              <Link
                to="/agents/$agent/deployments/$deployment"
                params={{ agent: agent_name, deployment: id }}
                className="[overflow-wrap:anywhere] after:absolute after:inset-0 after:content-['']"
              >
                <span className="font-medium">{agent_name}</span> <span className="font-mono">{version}</span>
              </Link>
              <span className="block text-muted text-small md:hidden">
                {environment}
                {why}
              </span>
            </RowName>
            <Cell className="whitespace-nowrap">
              <DeploymentMark deployment={deployment} />
            </Cell>
            <Cell className={wideOnly}>{environment}</Cell>
            <Cell className={`${wideOnly} max-w-40 text-muted`}>
              <OutsideText text={deployerOf(deployment)} className="line-clamp-1" />
            </Cell>
            <Cell className="text-right text-muted md:text-left">
              <Ago at={created_at} />
            </Cell>
            <Cell className={`${wideOnly} max-w-96`}>{why}</Cell>
          </tr>
        );
      })}
    </Table>
  );
}
