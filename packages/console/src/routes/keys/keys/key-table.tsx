import type { ApiKey } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { AgentLink } from "../../../lists/agent-link.tsx";
import { Ago } from "../../../parts/ago.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { moveThroughRows } from "../../../parts/row-keys.ts";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { useMe } from "../../../session/session.ts";
import { Expiry } from "../expiry.tsx";
import { KeyState } from "../key-state.tsx";

const columns = [
  { title: "Name" },
  { title: "Begins with", className: roomyOnly },
  { title: "Permissions", className: roomyOnly },
  { title: "Agent", className: roomyOnly },
  { title: "Status" },
  { title: "Last used", className: roomyOnly },
  { title: "Expires", className: roomyOnly },
];

export const accessOf = ({ role, permissions }: Pick<ApiKey, "role" | "permissions">): string =>
  role ?? permissions.join(", ");

const Row = ({ apiKey, isMine }: { readonly apiKey: ApiKey; readonly isMine: boolean }) => (
  <tr className="hover:bg-sunken has-[a[aria-current]]:bg-accent-soft">
    <RowName>
      <Link
        data-row
        to="/keys/$key"
        params={{ key: apiKey.id }}
        search={keepSearch()}
        resetScroll={false}
        className="hover:underline"
      >
        <OutsideText text={apiKey.name} />
      </Link>
      {isMine && <span className="ml-2 whitespace-nowrap rounded bg-accent-soft px-1.5 text-small">yours</span>}
      <div className={`text-muted text-small ${tightOnly}`}>
        <code className="font-mono">{apiKey.prefix}…</code> {accessOf(apiKey)}
        {apiKey.agent_id !== null && (
          <>
            {" "}
            of <AgentLink id={apiKey.agent_id} />
          </>
        )}
        ,{" "}
        {apiKey.last_used_at ? (
          <>
            used <Ago at={apiKey.last_used_at} />
          </>
        ) : (
          "never used"
        )}
        {apiKey.expires_at !== null && apiKey.status === "active" && (
          <>
            , expires <Expiry at={apiKey.expires_at} />
          </>
        )}
      </div>
    </RowName>
    <Cell className={roomyOnly}>
      <code className="whitespace-nowrap font-mono text-small">{apiKey.prefix}…</code>
    </Cell>
    <Cell className={roomyOnly}>{accessOf(apiKey)}</Cell>
    <Cell className={roomyOnly}>{apiKey.agent_id === null ? "all" : <AgentLink id={apiKey.agent_id} />}</Cell>
    <Cell>
      <KeyState status={apiKey.status} />
    </Cell>
    <Cell className={roomyOnly}>{apiKey.last_used_at ? <Ago at={apiKey.last_used_at} /> : "never"}</Cell>
    <Cell className={roomyOnly}>{apiKey.expires_at ? <Expiry at={apiKey.expires_at} /> : "never"}</Cell>
  </tr>
);

export function KeyTable({ keys }: { readonly keys: readonly ApiKey[] }) {
  const { key: mine } = useMe();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrows move between the links inside.
    <div onKeyDown={moveThroughRows}>
      <Table caption="API keys" columns={columns}>
        {keys.map((key) => (
          <Row key={key.id} apiKey={key} isMine={key.id === mine.id} />
        ))}
      </Table>
    </div>
  );
}
