import type { Deployment } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { deploymentsQuery } from "../../../api/deployments-queries.ts";
import { Ago } from "../../../parts/ago.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Working } from "../../../parts/working.tsx";
import { ListSection } from "./list-section.tsx";

const shownAtMost = 10;

const isCanary = ({ status, traffic_percent }: Deployment): boolean => status === "active" && traffic_percent < 100;

const DeploymentRow = ({ deployment }: { readonly deployment: Deployment }) => (
  <tr>
    <td className="h-8 w-32 whitespace-nowrap border-line border-b pr-2">
      <StatusMark
        status={isCanary(deployment) ? "canary" : deployment.status}
        {...(isCanary(deployment) && { word: `canary ${deployment.traffic_percent} %` })}
      />
    </td>
    <th scope="row" className="w-20 truncate border-line border-b px-2 text-left font-medium font-mono sm:w-28">
      {deployment.version}
    </th>
    <td className="border-line border-b px-2">
      <span className="text-muted">{deployment.environment}</span>
      {deployment.error !== null && (
        <OutsideText text={deployment.error} className="block pb-1 text-danger text-small" />
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
        <Link to="/agents/$agent/versions" params={{ agent }} className="text-accent text-table underline">
          All versions
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
              <DeploymentRow key={deployment.id} deployment={deployment} />
            ))}
          </tbody>
        </table>
      )}
    </ListSection>
  );
}
