import type { ErrorDetail } from "@perch/contract";
import type { RequiredAction, WaitingOutcome } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";

/** The others are in the details of the answer. */
const maxNamed = 3;

const describeAction = ({ id, kind, tool }: RequiredAction): string => {
  const what = kind === "question" ? "answer the question of" : "decide about the call of";
  return `${what} ${JSON.stringify(tool)} at /v1/approvals/${toPublicId("approval", id)}`;
};

/** The reason why a run waits, and the advice, in one sentence. */
export function describeWaiting({ actions }: WaitingOutcome): string {
  if (actions.length === 0)
    return "The run waits for its turn: an earlier run of its session waits for a person, and this one goes on when that has ended. `GET /v1/approvals?status=open` with its `session_id` lists what to decide.";
  const named = actions.slice(0, maxNamed).map(describeAction);
  const others = actions.length > maxNamed ? [`decide about ${actions.length - maxNamed} more`] : [];
  return `The run waits for a person: ${[...named, ...others].join(", and ")}.`;
}

export const detailsOfWaiting = ({
  actions,
}: {
  readonly actions: readonly Pick<RequiredAction, "id">[];
}): ErrorDetail[] => actions.map(({ id }) => ({ field: "approval_id", error: toPublicId("approval", id) }));
