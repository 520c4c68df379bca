import type { Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { deploymentsQuery } from "../../../api/deployments-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Working } from "../../../parts/working.tsx";
import { DeploymentMark } from "../deploy/deployment-mark.tsx";
import { ListSection } from "./list-section.tsx";

const shownAtMost = 10;

const DeploymentRow = ({ agent, deployment }: { readonly agent: string; readonly deployment: Deployment }) => (
  <tr className="relative hover:bg-sunken">
    <td className="h-8 w-32 whitespace-nowrap border-line border-b pr-2">
      <DeploymentMark deployment={deployment} />
    </td>
    <th scope="row" className="w-20 truncate border-line border-b px-2 text-left font-medium font-mono sm:w-28">
      <Link
        to="/agents/$agent/deployments/$deployment"
        params={{ agent, deployment: deployment.id }}
        className="after:absolute after:inset-0 after:content-['']"
      >
        {deployment.version}
      </Link>
    </th>
    <td className="border-line border-b px-2">
      <span className="text-muted">{deployment.environment}</span>
      {deployment.error !== null && (
        <OutsideText text={deployment.error} className="line-clamp-2 pb-1 text-danger text-small" />
      )}
    </td>
    <td className="w-24 border-line border-b pl-2 text-right text-muted">
      <Ago at={deployment.created_at} />
    </td>
  </tr>
);

export function LastDeployments({ agent }: { readonly agent: string }) {
  const { env } = useSearch({ strict: false });
  const { data, error } = useQuery(deploymentsQuery(agent));
  const deployments = data?.filter(({ environment }) => env === undefined || environment === env);
  return (
    <ListSection
      title="Last deployments"
      more={
        <Link to="/agents/$agent/deployments" params={{ agent }} className="text-accent text-table underline">
          All deployments
        </Link>
      }
    >
      {error && !deployments ? (
        <ErrorNote error={error} />
      ) : deployments === undefined ? (
        <Working what="the deployments" />
      ) : deployments.length === 0 ? (
        <p className="py-2 text-muted text-table">
          No deployments yet: the draft answers. Deploy it to give it a version that does not change.
        </p>
      ) : (
        <table className="w-full table-fixed text-table">
          <caption className="sr-only">Last deployments, newest first</caption>
          <tbody>
            {deployments.slice(0, shownAtMost).map((deployment) => (
              <DeploymentRow key={deployment.id} agent={agent} deployment={deployment} />
            ))}
          </tbody>
        </table>
      )}
    </ListSection>
  );
}
