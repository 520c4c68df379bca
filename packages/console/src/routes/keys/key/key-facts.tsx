import type { ApiKey } from "@perch/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { successorQuery } from "../../../api/keys-queries.ts";
import { AgentLink } from "../../../lists/agent-link.tsx";
import { useKeyName } from "../../../lists/use-key-name.ts";
import { Ago, exactTime } from "../../../parts/ago.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { IdText } from "../../../parts/id-text.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { textLinkClass } from "../../../parts/text-link.ts";
import { useMe } from "../../../session/session.ts";
import { Expiry } from "../expiry.tsx";
import { KeyState } from "../key-state.tsx";

interface KeyLinkProps {
  readonly id: string;
  /** Shown if the key has the same name as the one that it replaces. */
  readonly prefix?: string;
}

function KeyLink({ id, prefix }: KeyLinkProps) {
  const nameOf = useKeyName();
  return (
    <Link to="/keys/$key" params={{ key: id }} search={keepSearch()} className={textLinkClass}>
      <OutsideText text={nameOf(id)} />
      {prefix !== undefined && ` (${prefix}…)`}
    </Link>
  );
}

const Permissions = ({ apiKey }: { readonly apiKey: ApiKey }) => (
  <>
    {apiKey.role !== null && <>{apiKey.role}: </>}
    {apiKey.permissions.join(", ")}
  </>
);

/** The reason for its end, past or future. */
const End = ({ apiKey }: { readonly apiKey: ApiKey }) => {
  if (apiKey.revoked_at !== null)
    return (
      <Fact name="Revoked">
        <Ago at={apiKey.revoked_at} />
      </Fact>
    );
  return (
    <Fact name={apiKey.status === "expired" ? "Expired" : "Expires"}>
      {apiKey.expires_at === null ? (
        "never"
      ) : (
        <>
          <Expiry at={apiKey.expires_at} />{" "}
          <span className="text-muted">({exactTime(new Date(apiKey.expires_at))})</span>
        </>
      )}
    </Fact>
  );
};

/** The origin of the key and its permissions. Its creator and the keys of its rotations are links. */
export function KeyFacts({ apiKey }: { readonly apiKey: ApiKey }) {
  const { data: successor } = useQuery(successorQuery(apiKey.id));
  const isMine = useMe().key.id === apiKey.id;
  return (
    <div className="flex flex-col gap-3">
      {isMine && <p className="rounded bg-accent-soft px-3 py-1.5 text-table">You are signed in with this key.</p>}
      {successor && apiKey.status === "active" && apiKey.expires_at !== null && (
        <p className="rounded bg-warning-soft px-3 py-1.5 text-table">
          This key was rotated and works until {exactTime(new Date(apiKey.expires_at))}. Move what uses it to{" "}
          <KeyLink id={successor.id} prefix={successor.prefix} />.
        </p>
      )}
      <Facts layout="list">
        <Fact name="Status">
          <KeyState status={apiKey.status} />
        </Fact>
        <Fact name="Permissions">
          <Permissions apiKey={apiKey} />
        </Fact>
        <Fact name="Agent">{apiKey.agent_id === null ? "all agents" : <AgentLink id={apiKey.agent_id} />}</Fact>
        <Fact name="Last used">{apiKey.last_used_at ? <Ago at={apiKey.last_used_at} /> : "never"}</Fact>
        <End apiKey={apiKey} />
        <Fact name="Begins with">
          <code className="font-mono text-small">{apiKey.prefix}…</code>
        </Fact>
        <Fact name="Id">
          <IdText id={apiKey.id} what="the id of the key" />
        </Fact>
        <Fact name="Created">
          <Ago at={apiKey.created_at} />
          {apiKey.created_by === null ? (
            <span className="text-muted"> with the organisation, or by a person</span>
          ) : (
            <>
              {" "}
              by <KeyLink id={apiKey.created_by} />
            </>
          )}
        </Fact>
        {apiKey.rotated_from !== null && (
          <Fact name="Rotated from">
            <KeyLink id={apiKey.rotated_from} />
          </Fact>
        )}
        {successor && (
          <Fact name="Replaced by">
            <KeyLink id={successor.id} prefix={successor.prefix} />
          </Fact>
        )}
      </Facts>
    </div>
  );
}
