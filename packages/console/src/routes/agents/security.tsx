import type { Agent } from "@perch/sdk";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { agentQuery } from "../../api/agents-queries.ts";
import { ownSessionQuery } from "../../api/console-sessions.ts";
import { problemsByField } from "../../api/problems-by-field.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { MayNot } from "../../parts/may-not.tsx";
import { LeaveGuard } from "../../session/leave-guard.tsx";
import { useCan, useMe } from "../../session/session.ts";
import { AuthFields } from "./security/auth-fields.tsx";
import { SecurityBlocks } from "./security/block-fields.tsx";
import { type Here, lockOutReasons, refusalReasons } from "./security/lock-out.ts";
import { RefusedNote } from "./security/refused-note.tsx";
import { SaveDialog } from "./security/save-dialog.tsx";
import { useSecurity } from "./security/use-security.ts";

const route = getRouteApi("/signed-in/agents/$agent/security");
const serverSays = "The server reports that these settings would refuse this request.";

/** Facts about this browser. The address is the one that the session was started from. */
function useHere(): Here {
  const { key, session } = useMe();
  const { data: own } = useQuery({ ...ownSessionQuery, enabled: session !== null });
  return {
    address: own?.address,
    isHttps: location.protocol === "https:",
    isPerson: Boolean(session?.person),
    hasSecondFactor: key.second_factor,
  };
}

interface FormProps {
  readonly agentRef: string;
  readonly agent: Agent;
  readonly canManage: boolean;
}

function SecurityForm({ agentRef, agent, canManage }: FormProps) {
  const security = useSecurity(agentRef, agent);
  const { draft, change, changed, save, isDirty, isLockOut, isOvertaken } = security;
  const [isAsking, setIsAsking] = useState(false);
  const here = useHere();
  const found = lockOutReasons(changed, security, here);
  const isKnownRefusal = refusalReasons(changed, here).length > 0;
  const reasons = isLockOut && !isKnownRefusal ? [...found, serverSays] : found;
  const problems = problemsByField(save.error);
  return (
    <div className="mx-auto max-w-[1280px] px-4 pb-8">
      <div className="sticky top-0 z-10 flex flex-col gap-2 border-line border-b bg-page py-2 text-table">
        <div className="flex flex-wrap items-center gap-2">
          <p className="text-muted">
            The requirements for a request besides a valid key. Saved settings apply at once, in every environment.
          </p>
          {canManage && (
            <div className="ml-auto flex items-center gap-2">
              {isDirty && (
                <Button kind="quiet" onClick={security.discard}>
                  Discard changes
                </Button>
              )}
              <Button
                kind="primary"
                disabled={!isDirty || isOvertaken}
                working={save.isPending}
                onClick={() => (reasons.length > 0 ? setIsAsking(true) : save.mutate(false))}
              >
                Save settings
              </Button>
            </div>
          )}
        </div>
        {!canManage && <MayNot what="change the security settings" permission="manage" />}
        {isDirty && reasons.length > 0 && (
          <div role="alert" className="rounded border border-warning bg-warning-soft px-3 py-2">
            {reasons.map((reason) => (
              <p key={reason} className="text-warning">
                {reason}
              </p>
            ))}
          </div>
        )}
        {isOvertaken && (
          <p role="alert" className="rounded border border-warning bg-warning-soft px-3 py-2">
            Another user has changed the security settings since you began. Discard your changes to see the new
            settings, then make yours again.
          </p>
        )}
        {save.error && !isLockOut && !isOvertaken && !isAsking && <ErrorNote error={save.error} />}
        {save.data?.map((warning) => (
          <p key={warning} role="status" className="rounded border border-warning bg-warning-soft px-3 py-2">
            {warning}
          </p>
        ))}
        {security.refusal !== undefined && (
          <RefusedNote error={security.refusal} agentName={agent.name} onRetry={() => void security.probe()} />
        )}
      </div>
      {/* While saving, nothing can be changed, because the form restarts with the saved settings. */}
      <fieldset key={security.generation} disabled={!canManage || save.isPending} className="min-w-0">
        <legend className="sr-only">Security settings</legend>
        <SecurityBlocks draft={draft} onChange={change} problems={problems} />
        <AuthFields current={agent.auth} auth={draft.auth} onChange={change} problems={problems} />
      </fieldset>
      <SaveDialog
        open={isAsking}
        onClose={() => setIsAsking(false)}
        agentName={agent.name}
        reasons={reasons}
        // True confirms a lock-out that the user has seen. If false, the server still warns about reasons that the page cannot know.
        onConfirm={() => save.mutateAsync(isKnownRefusal || isLockOut)}
      />
      <LeaveGuard
        isDirty={isDirty}
        description="Your changes to the security settings are not saved. They are lost when you leave this page."
      />
    </div>
  );
}

/** The agent's security settings, as a form. */
export function Security() {
  const { agent: ref } = route.useParams();
  const { data: agent } = useSuspenseQuery(agentQuery(ref));
  const canManage = useCan("manage");
  return <SecurityForm key={agent.id} agentRef={ref} agent={agent} canManage={canManage} />;
}
