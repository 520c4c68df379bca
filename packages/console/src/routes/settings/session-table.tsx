import type { ConsoleSession } from "@perch/sdk";
import type { ReactNode } from "react";
import { Ago } from "../../parts/ago.tsx";
import { Button } from "../../parts/button.tsx";
import { classNames } from "../../parts/class-names.ts";
import { OutsideText } from "../../parts/outside-text.tsx";
import { personName } from "../../session/person-name.ts";
import { useMe } from "../../session/session.ts";
import { describeBrowser } from "./describe-browser.ts";

const cell = "h-8 px-2 first:pl-4 last:pr-4";
/** Said under the name on a narrow screen. */
const wideOnly = "hidden md:table-cell";

const Heading = ({ children, className }: { readonly children: ReactNode; readonly className?: string }) => (
  <th
    scope="col"
    className={classNames("px-2 py-1.5 text-left font-medium text-muted first:pl-4 last:pr-4", className)}
  >
    {children}
  </th>
);

/** A key has its name where it is the one that is signed in: a session of another key has only the id. */
const Owner = ({ session: { person, key_id } }: { readonly session: ConsoleSession }) => {
  const { key } = useMe();
  if (person) return <OutsideText text={personName(person)} className="[overflow-wrap:anywhere]" />;
  if (key_id === key.id) return <OutsideText text={key.name} className="[overflow-wrap:anywhere]" />;
  return <code className="font-mono text-small [overflow-wrap:anywhere]">{key_id}</code>;
};

const Place = ({ session: { address, user_agent } }: { readonly session: ConsoleSession }) => (
  <span title={user_agent ?? undefined}>
    <OutsideText text={describeBrowser(user_agent)} />, <code className="font-mono text-small">{address}</code>
  </span>
);

interface RowProps {
  readonly session: ConsoleSession;
  readonly isEnding: boolean;
  readonly onEnd: (session: ConsoleSession) => void;
}

const Row = ({ session, isEnding, onEnd }: RowProps) => (
  <tr className="border-line border-b">
    <td className={cell}>
      <Owner session={session} />
      {session.current && (
        <span className="ml-2 whitespace-nowrap rounded bg-accent-soft px-1.5 text-small">this session</span>
      )}
      <div className="pb-1 text-muted text-small md:hidden">
        <Place session={session} />, signed in <Ago at={session.created_at} />
      </div>
    </td>
    <td className={classNames(cell, wideOnly)}>{session.role ?? "own permissions"}</td>
    <td className={classNames(cell, wideOnly)}>
      <Place session={session} />
    </td>
    <td className={classNames(cell, wideOnly)}>
      <Ago at={session.created_at} />
    </td>
    <td className={classNames(cell, wideOnly)}>{session.last_used_at ? <Ago at={session.last_used_at} /> : "–"}</td>
    <td className={classNames(cell, wideOnly)}>
      <Ago at={session.expires_at} />
    </td>
    <td className={classNames(cell, "text-right")}>
      <Button kind="quiet" working={isEnding} onClick={() => onEnd(session)}>
        {session.current ? "Sign out" : "End session"}
        {!session.current && <span className="sr-only"> of {session.address}</span>}
      </Button>
    </td>
  </tr>
);

interface SessionTableProps {
  readonly sessions: readonly ConsoleSession[];
  readonly ending: string | undefined;
  readonly onEnd: (session: ConsoleSession) => void;
}

export const SessionTable = ({ sessions, ending, onEnd }: SessionTableProps) => (
  <table className="w-full text-table">
    <thead className="border-line border-b">
      <tr>
        <Heading>Who</Heading>
        <Heading className={wideOnly}>Role</Heading>
        <Heading className={wideOnly}>Where</Heading>
        <Heading className={wideOnly}>Signed in</Heading>
        <Heading className={wideOnly}>Last used</Heading>
        <Heading className={wideOnly}>Ends</Heading>
        <Heading>
          <span className="sr-only">Actions</span>
        </Heading>
      </tr>
    </thead>
    <tbody>
      {sessions.map((session) => (
        <Row key={session.id} session={session} isEnding={ending === session.id} onEnd={onEnd} />
      ))}
    </tbody>
  </table>
);
