import type { Connection } from "@perch/sdk";
import { Link } from "@tanstack/react-router";
import { Ago } from "../../../parts/ago.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { moveThroughRows } from "../../../parts/row-keys.ts";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { ConnectionState } from "../connection-state.tsx";

const columns = [
  { title: "User" },
  { title: "Tool", className: roomyOnly },
  { title: "Status" },
  { title: "Tokens are sent to", className: roomyOnly },
  { title: "Scopes", className: roomyOnly },
  { title: "Connected", className: roomyOnly },
  { title: "Last used", className: roomyOnly },
];

interface RowProps {
  readonly agent: string;
  readonly connection: Connection;
}

const Row = ({ agent, connection }: RowProps) => (
  <tr className="hover:bg-sunken has-[a[aria-current]]:bg-accent-soft">
    <RowName>
      <Link
        data-row
        to="/connections/$agent/$connection"
        params={{ agent, connection: connection.id }}
        search={keepSearch()}
        resetScroll={false}
        className="hover:underline"
      >
        <OutsideText text={connection.user_id} />
      </Link>
      <div className={`text-muted text-small ${tightOnly}`}>
        <OutsideText text={connection.tool} /> at <OutsideText text={connection.sent_to} />
        {connection.connected_at && (
          <>
            , connected <Ago at={connection.connected_at} />
          </>
        )}
        {connection.last_used_at && (
          <>
            , used <Ago at={connection.last_used_at} />
          </>
        )}
      </div>
    </RowName>
    <Cell className={roomyOnly}>
      <OutsideText text={connection.tool} />
    </Cell>
    <Cell className="whitespace-nowrap">
      <ConnectionState status={connection.status} />
    </Cell>
    <Cell className={roomyOnly}>
      <OutsideText text={connection.sent_to} className="font-mono text-small" />
    </Cell>
    <Cell className={roomyOnly}>
      <OutsideText text={connection.scopes.join(" ") || "–"} className="font-mono text-small" />
    </Cell>
    <Cell className={roomyOnly}>{connection.connected_at ? <Ago at={connection.connected_at} /> : "–"}</Cell>
    <Cell className={roomyOnly}>{connection.last_used_at ? <Ago at={connection.last_used_at} /> : "never"}</Cell>
  </tr>
);

interface ConnectionTableProps {
  readonly agent: string;
  readonly connections: readonly Connection[];
}

export const ConnectionTable = ({ agent, connections }: ConnectionTableProps) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: arrows move between the links inside.
  <div onKeyDown={moveThroughRows}>
    <Table caption="Accounts that users connected" columns={columns}>
      {connections.map((connection) => (
        <Row key={connection.id} agent={agent} connection={connection} />
      ))}
    </Table>
  </div>
);
