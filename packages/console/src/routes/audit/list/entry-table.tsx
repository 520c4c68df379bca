import type { AuditEntry } from "@perch/sdk";
import { Ago } from "../../../parts/ago.tsx";
import { classNames } from "../../../parts/class-names.ts";
import { Icon } from "../../../parts/icon.tsx";
import { OutsideText } from "../../../parts/outside-text.tsx";
import { StatusMark } from "../../../parts/status-mark.tsx";
import { Cell, RowName, Table, wideOnly } from "../../../parts/table.tsx";
import { EntryDetails } from "./entry-details.tsx";
import { EntrySentence, type Names } from "./entry-sentence.tsx";

interface EntryTableProps {
  readonly entries: readonly AuditEntry[];
  readonly names: Names;
  /** Id of the entry whose details are open. */
  readonly opened: string | undefined;
  readonly onOpen: (id: string | undefined) => void;
}

const maxFields = 4;

/** `model, tools, limits and 2 more`. */
const shortList = (fields: readonly string[]): string =>
  fields.length <= maxFields
    ? fields.join(", ")
    : `${fields.slice(0, maxFields - 1).join(", ")} and ${fields.length - maxFields + 1} more`;

const Outcome = ({ entry }: { readonly entry: AuditEntry }) =>
  entry.outcome === "changed" ? (
    <StatusMark status="completed" word="changed" />
  ) : (
    <StatusMark status="failed" word={`refused: ${(entry.details.reason ?? "no reason").replaceAll("_", " ")}`} />
  );

interface RowProps {
  readonly entry: AuditEntry;
  readonly names: Names;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

const Row = ({ entry, names, isOpen, onToggle }: RowProps) => (
  <tr className={classNames("align-top", isOpen && "bg-sunken")}>
    <RowName>
      <div className="flex min-w-0 items-start gap-1">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`Details of ${entry.operation}`}
          onClick={onToggle}
          className="mt-0.5 rounded p-0.5 text-muted hover:bg-sunken hover:text-text"
        >
          <Icon name={isOpen ? "down" : "right"} className="size-3.5" />
        </button>
        <div className="min-w-0 flex-1 py-0.5">
          <EntrySentence entry={entry} names={names} />
          {entry.details.fields !== undefined && (
            <OutsideText text={` (${shortList(entry.details.fields)})`} className="text-muted text-small" />
          )}
          <p className="text-muted text-small md:hidden">
            <Outcome entry={entry} />, <Ago at={entry.created_at} />
            {entry.address !== null && `, from ${entry.address}`}
          </p>
          {isOpen && (
            <div className="mt-2 pb-2 font-normal">
              <EntryDetails entry={entry} />
            </div>
          )}
        </div>
      </div>
    </RowName>
    <Cell className={classNames(wideOnly, "pt-1! whitespace-nowrap")}>
      <Outcome entry={entry} />
    </Cell>
    <Cell className={classNames(wideOnly, "pt-1! font-mono text-small leading-5")}>{entry.address ?? "–"}</Cell>
    <Cell className={classNames(wideOnly, "pt-1! text-right")}>
      <Ago at={entry.created_at} />
    </Cell>
  </tr>
);

export const EntryTable = ({ entries, names, opened, onOpen }: EntryTableProps) => (
  <Table
    caption="Entries of the audit log, newest first"
    columns={[
      { title: "What happened", className: "pl-7!" },
      { title: "Outcome", className: classNames(wideOnly, "w-48") },
      { title: "From", className: classNames(wideOnly, "w-40") },
      { title: "When", className: classNames(wideOnly, "w-28 text-right") },
    ]}
  >
    {entries.map((entry) => (
      <Row
        key={entry.id}
        entry={entry}
        names={names}
        isOpen={entry.id === opened}
        onToggle={() => onOpen(entry.id === opened ? undefined : entry.id)}
      />
    ))}
  </Table>
);
