import type { Secret } from "@perch/sdk";
import { useState } from "react";
import type { SecretOwner } from "../../../api/secrets-queries.ts";
import { useKeyName } from "../../../lists/use-key-name.ts";
import { Ago } from "../../../parts/ago.tsx";
import { Button } from "../../../parts/button.tsx";
import { CopyButton } from "../../../parts/copy-button.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { useCan } from "../../../session/session.ts";
import { ChangeSecretDialog } from "./change-secret-dialog.tsx";
import { DeleteSecretDialog } from "./delete-secret-dialog.tsx";

const columns = [
  // The page shows two of these tables, one below the other.
  { title: "Name", className: "@2xl:w-[30%]" },
  { title: "Sent to", className: `${roomyOnly} w-[25%]` },
  { title: "Changed", className: `${roomyOnly} w-[22%]` },
  { title: "Last used", className: roomyOnly },
  { title: "Actions", isHidden: true },
];

const Hosts = ({ hosts }: Pick<Secret, "hosts">) => (
  <span className="font-mono text-small [overflow-wrap:anywhere]">
    {hosts.map((host, index) => (
      <span key={host}>
        {index > 0 && ", "}
        <OutsideText text={host} />
      </span>
    ))}
  </span>
);

interface RowProps {
  readonly owner: SecretOwner;
  readonly secret: Secret;
  readonly isReplaced: boolean;
}

/** A user who may not read the keys sees the time of the change, but not its key. */
function Changed({ updated_at, updated_by }: Secret) {
  const nameOf = useKeyName();
  const isNamed = useCan("manage") && updated_by !== null;
  return (
    <>
      <Ago at={updated_at} />
      {isNamed && (
        <span className="text-muted">
          {" "}
          by <OutsideText text={nameOf(updated_by)} />
        </span>
      )}
    </>
  );
}

function Row({ owner, secret, isReplaced }: RowProps) {
  const [open, setOpen] = useState<"change" | "delete">();
  const close = () => setOpen(undefined);
  const lastUsed = secret.last_used_at ? <Ago at={secret.last_used_at} /> : "never";
  return (
    <tr className="hover:bg-sunken">
      <RowName>
        <span className="inline-flex max-w-full items-center gap-0.5">
          <code className="min-w-0 font-mono text-small [overflow-wrap:anywhere]">{secret.name}</code>
          <CopyButton text={`{{secret.${secret.name}}}`} what={`the reference to ${secret.name}`} />
        </span>
        {isReplaced && <span className="ml-1 text-muted text-small">the agent's own is used instead</span>}
        {secret.approval === "required" && <span className="ml-1 text-muted text-small">needs approval</span>}
        <div className={`text-muted text-small ${tightOnly}`}>
          to <Hosts hosts={secret.hosts} />, changed <Ago at={secret.updated_at} />, last used {lastUsed}
        </div>
      </RowName>
      <Cell className={roomyOnly}>
        <Hosts hosts={secret.hosts} />
      </Cell>
      <Cell className={roomyOnly}>
        <Changed {...secret} />
      </Cell>
      <Cell className={roomyOnly}>{lastUsed}</Cell>
      <Cell className="text-right">
        {useCan("manage") && (
          <span className="inline-flex flex-wrap justify-end">
            <Button kind="quiet" onClick={() => setOpen("change")}>
              Change<span className="sr-only"> secret {secret.name}</span>
            </Button>
            <Button kind="quiet" onClick={() => setOpen("delete")}>
              Delete<span className="sr-only"> secret {secret.name}</span>
            </Button>
          </span>
        )}
        <ChangeSecretDialog open={open === "change"} onClose={close} owner={owner} name={secret.name} />
        <DeleteSecretDialog open={open === "delete"} onClose={close} owner={owner} name={secret.name} />
      </Cell>
    </tr>
  );
}

interface SecretTableProps {
  readonly owner: SecretOwner;
  readonly secrets: readonly Secret[];
  readonly caption: string;
  /** Names of the organisation's secrets that the agent's own ones replace. */
  readonly replaced?: ReadonlySet<string>;
}

export const SecretTable = ({ owner, secrets, caption, replaced }: SecretTableProps) => (
  <Table caption={caption} columns={columns}>
    {secrets.map((secret) => (
      <Row key={secret.name} owner={owner} secret={secret} isReplaced={replaced?.has(secret.name) ?? false} />
    ))}
  </Table>
);
