import { useQuery } from "@tanstack/react-query";
import { Fact, Facts } from "../../parts/facts.tsx";
import { IdText } from "../../parts/id-text.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Section } from "../../parts/section.tsx";
import { actorName } from "../../session/person-name.ts";
import { meQuery, useMe } from "../../session/session.ts";
import { ApproveGrants } from "./organisation/approve-grants.tsx";
import { PermissionList } from "./organisation/permission-list.tsx";
import { formatCount } from "./organisation/quota.ts";
import { QuotaTable } from "./organisation/quota-table.tsx";

const Limits = () => {
  const { limits } = useMe();
  return (
    <Facts layout="list">
      <Fact name="Requests">
        {formatCount(limits.requests_per_minute)} a minute, {formatCount(limits.burst)} at once
      </Fact>
      <Fact name="Calls to other servers">{formatCount(limits.calls_per_minute)} a minute</Fact>
      <Fact name="Runs at the same time">{formatCount(limits.concurrent_runs)}</Fact>
      <Fact name="Logs and metrics">{formatCount(limits.log_days)} days</Fact>
      <Fact name="Versions of an agent">{formatCount(limits.versions_per_agent)}</Fact>
      <Fact name="Deployments of an agent">
        {formatCount(limits.deployments_per_agent)}; those that ended first make room
      </Fact>
      <Fact name="Memories of an agent">{formatCount(limits.memories_per_agent)}; the oldest make room</Fact>
    </Facts>
  );
};

/** The organisation with its usage and quotas, and the reader's own permissions. */
export function Organisation() {
  const me = useMe();
  // Users come here when a quota is used up, so the numbers are always fresh.
  useQuery({ ...meQuery, staleTime: 0, refetchInterval: 30_000 });
  const { organisation, key, usage } = me;
  return (
    <div className="mx-auto max-w-[1280px] px-4 pb-8">
      <Section title="Organisation">
        <Facts layout="list">
          <Fact name="Name">
            <OutsideText text={organisation.name} />
          </Fact>
          <Fact name="Id">
            <IdText id={organisation.id} what="the organisation's id" />
          </Fact>
          <Fact name="Tier">
            {organisation.tier}
            <span className="text-muted">; the operator of the installation changes it</span>
          </Fact>
          <Fact name="Permission to approve">
            <ApproveGrants />
          </Fact>
        </Facts>
      </Section>
      <Section title="Quotas">
        {usage ? (
          <QuotaTable usage={usage} />
        ) : (
          <p className="text-muted text-table">
            You are signed in with a key of one agent. The usage of the whole organisation is shown only to keys that
            are not limited to an agent.
          </p>
        )}
      </Section>
      <Section title="Limits of the tier">
        <Limits />
      </Section>
      <Section title="What you may do">
        <p className="text-table">
          You are signed in as <OutsideText text={actorName(me)} className="font-medium" />
          {key.role !== null && (
            <>
              {" "}
              with the role <code className="font-mono">{key.role}</code>
            </>
          )}
          {key.agent_id !== null && (
            <>
              , for the agent <code className="font-mono text-small">{key.agent_id}</code> alone
            </>
          )}
          .
        </p>
        <PermissionList held={key.permissions} />
      </Section>
    </div>
  );
}
