import { DeploymentFailedError, TimeoutError } from "@perch/sdk";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";

/** Why a deployment did not work: the checks that failed, in words that tools and models may have chosen, or the API's error. */
export function DeployProblem({ error }: { readonly error: Error }) {
  // That its checks take long is no error; the sentence about it says so.
  if (error instanceof TimeoutError && error.method === "GET") return null;
  if (!(error instanceof DeploymentFailedError)) return <ErrorNote error={error} />;
  return (
    <div role="alert" className="rounded border border-danger bg-danger-soft px-3 py-2 text-table">
      <OutsideText block text={error.shortMessage} className="font-medium text-danger" />
    </div>
  );
}
