import type { ConsoleSession } from "@perch/sdk";
import { useKeyName } from "../../lists/use-key-name.ts";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { OutsideText } from "../../parts/outside-text.tsx";
import { Cell, RowName, Table, wideOnly } from "../../parts/table.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { personName } from "../../session/person-name.ts";
import { useMe } from "../../session/session.ts";
import { describeBrowser } from "./describe-browser.ts";

const columns = [
  { title: "Who" },
  { title: "Role", className: wideOnly },
  { title: "Where", className: wideOnly },
  { title: "Signed in", className: wideOnly },
  { title: "Last used", className: wideOnly },
  { title: "Ends", className: wideOnly },
  { title: "Actions", isHidden: true },
];

/** The reader's own key has its name here even if the reader may not read other keys. */
const Owner = ({ session: { person, key_id } }: { readonly session: ConsoleSession }) => {
  const { key } = useMe();
  const nameOfKey = useKeyName();
  const name = person ? personName(person) : key_id === key.id ? key.name : nameOfKey(key_id);
  return <OutsideText text={name} className="[overflow-wrap:anywhere]" />;
};

const Place = ({ session: { address, user_agent } }: { readonly session: ConsoleSession }) => (
  <span title={user_agent === null ? undefined : visibleText(user_agent)}>
    <OutsideText text={describeBrowser(user_agent)} />, <code className="font-mono text-small">{address}</code>
  </span>
);

const roleOf = ({ role }: ConsoleSession): string => role ?? "own permissions";

interface RowProps {
  readonly session: ConsoleSession;
  readonly onEnd: (session: ConsoleSession) => void;
}

const Row = ({ session, onEnd }: RowProps) => (
  <tr>
    <RowName>
      <Owner session={session} />
      {session.current && (
        <span className="ml-2 whitespace-nowrap rounded bg-accent-soft px-1.5 text-small">this session</span>
      )}
      <div className="pb-1 text-muted text-small md:hidden">
        {roleOf(session)}, <Place session={session} />, signed in <Ago at={session.created_at} />
        {session.last_used_at && (
          <>
            , used <Ago at={session.last_used_at} />
          </>
        )}
        , ends <Ago at={session.expires_at} />
      </div>
    </RowName>
    <Cell className={wideOnly}>{roleOf(session)}</Cell>
    <Cell className={wideOnly}>
      <Place session={session} />
    </Cell>
    <Cell className={wideOnly}>
      <Ago at={session.created_at} />
    </Cell>
    <Cell className={wideOnly}>{session.last_used_at ? <Ago at={session.last_used_at} /> : "–"}</Cell>
    <Cell className={wideOnly}>
      <Ago at={session.expires_at} />
    </Cell>
    <Cell className="text-right">
      <Button kind="quiet" onClick={() => onEnd(session)}>
        {session.current ? "Sign out" : "End session"}
        {!session.current && <span className="sr-only"> of {session.address}</span>}
      </Button>
    </Cell>
  </tr>
);

interface SessionTableProps {
  readonly sessions: readonly ConsoleSession[];
  readonly onEnd: (session: ConsoleSession) => void;
}

export const SessionTable = ({ sessions, onEnd }: SessionTableProps) => (
  <Table caption="Sessions in the console" columns={columns}>
    {sessions.map((session) => (
      <Row key={session.id} session={session} onEnd={onEnd} />
    ))}
  </Table>
);
