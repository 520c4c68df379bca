import { DeploymentFailedError, TimeoutError } from "@perch/sdk";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";

/** The reason why a deployment failed: the failed checks, which may quote tools and models, or the API's error. */
export function DeployProblem({ error }: { readonly error: Error }) {
  // Slow checks are not an error; another sentence reports them.
  if (error instanceof TimeoutError && error.method === "GET") return null;
  if (!(error instanceof DeploymentFailedError)) return <ErrorNote error={error} />;
  return (
    <div role="alert" className="rounded border border-danger bg-danger-soft px-3 py-2 text-table">
      <OutsideText block text={error.shortMessage} className="font-medium text-danger" />
    </div>
  );
}
