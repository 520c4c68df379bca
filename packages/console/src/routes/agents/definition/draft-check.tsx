import type { Agent } from "@perch/sdk";
import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import { perch } from "../../../api/perch.ts";
import { Button } from "../../../parts/button.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";

/** Whether a deployment of the saved draft would become active, checked before it is deployed. */
export function useDraftCheck(agent: Agent, isDirty: boolean) {
  const check = useMutation({ mutationFn: async () => (await perch.agents.check(agent.id)).problems });
  const { reset } = check;
  const { updated_at } = agent;
  // The findings belong to the previous draft.
  useEffect(() => reset(), [reset, updated_at, isDirty]);
  return check;
}
export type DraftCheck = ReturnType<typeof useDraftCheck>;

interface CheckButtonProps {
  readonly check: DraftCheck;
  readonly isDirty: boolean;
}

export const CheckButton = ({ check, isDirty }: CheckButtonProps) => (
  <Button
    onClick={() => check.mutate()}
    working={check.isPending}
    disabled={isDirty}
    title={
      isDirty
        ? "The saved draft is checked: save your changes first"
        : "Checks limits, secrets, models and tools, as a deployment would"
    }
  >
    Check draft
  </Button>
);

export const CheckResult = ({ check: { isPending, data, error } }: { readonly check: DraftCheck }) => (
  <div role="status">
    {isPending && <p className="text-muted">Asking models and tools whether they answer.</p>}
    {data?.length === 0 && <p className="text-muted">No problems: a deployment of the draft would become active.</p>}
    {error && <ErrorNote error={error} />}
    {data && data.length > 0 && (
      <ul aria-label="Problems of the draft" className="border-line border-t">
        {data.map(({ field, message }) => (
          <li key={`${field} ${message}`} className="flex gap-2 border-line border-b py-1.5">
            <StatusMark status="failed" iconOnly />
            <code className="font-mono text-small leading-5">{field}</code>
            <OutsideText text={message} className="min-w-0" />
          </li>
        ))}
      </ul>
    )}
  </div>
);
