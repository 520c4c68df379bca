import type { Memory } from "@perch/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type MemoryFilter, memoriesQuery } from "../../../api/memory-queries.ts";
import { PagedList } from "../../../lists/paged-list.tsx";
import { Ago } from "../../../parts/ago.tsx";
import { ArrowRows } from "../../../parts/arrow-rows.tsx";
import { keepSearch } from "../../../parts/change-search.ts";
import { Cell, RowName, roomyOnly, Table, tightOnly } from "../../../parts/table.tsx";
import { visibleText } from "../../../parts/visible-text.ts";
import { NoMemories } from "./no-memories.tsx";

const columns = [
  { title: "Memory" },
  { title: "User", className: `w-40 ${roomyOnly}` },
  { title: "Session", className: `w-40 ${roomyOnly}` },
  { title: "Stored", className: `w-24 text-right ${roomyOnly}` },
];

const outsideClass = "block truncate [unicode-bidi:plaintext]";
const Outside = ({ text }: { readonly text: string | null }) =>
  text === null ? (
    <span className="text-muted">–</span>
  ) : (
    <span className={outsideClass} title={visibleText(text)}>
      {visibleText(text)}
    </span>
  );

interface RowProps {
  readonly agent: string;
  readonly memory: Memory;
  readonly isOpen: boolean;
}

const Row = ({ agent, memory, isOpen }: RowProps) => (
  <tr className={isOpen ? "bg-accent-soft" : "hover:bg-sunken"}>
    <RowName className="max-w-0">
      <Link
        to="/memory/$agent/$memory"
        params={{ agent, memory: memory.id }}
        search={keepSearch({ agent })}
        resetScroll={false}
        data-row
        aria-current={isOpen ? "true" : undefined}
        className={`${outsideClass} hover:underline`}
      >
        {visibleText(memory.content.slice(0, 400))}
      </Link>
      <span className={`block truncate text-muted text-small ${tightOnly}`}>
        {memory.user_id === null ? "of no user" : visibleText(memory.user_id)}, stored <Ago at={memory.updated_at} />
        {memory.session_id !== null && `, ${visibleText(memory.session_id)}`}
      </span>
    </RowName>
    <Cell className={`max-w-40 ${roomyOnly}`}>
      <Outside text={memory.user_id} />
    </Cell>
    <Cell className={`max-w-40 ${roomyOnly}`}>
      <Outside text={memory.session_id} />
    </Cell>
    <Cell className={`text-right text-muted ${roomyOnly}`}>
      <Ago at={memory.updated_at} />
    </Cell>
  </tr>
);

interface MemoryTableProps {
  readonly agent: string;
  readonly filter: MemoryFilter;
  /** The memory that is open beside the list. */
  readonly openId: string | undefined;
}

/** The memories of an agent, the latest first. */
export function MemoryTable({ agent, filter, openId }: MemoryTableProps) {
  const query = useInfiniteQuery(memoriesQuery(agent, filter));
  const isFiltered = filter.user !== undefined || filter.session !== undefined;
  return (
    <PagedList query={query} what="memories" empty={<NoMemories agent={agent} isFiltered={isFiltered} />}>
      {(memories) => (
        <ArrowRows>
          <Table caption="Memories, stored last first" columns={columns}>
            {memories.map((memory) => (
              <Row key={memory.id} agent={agent} memory={memory} isOpen={memory.id === openId} />
            ))}
          </Table>
        </ArrowRows>
      )}
    </PagedList>
  );
}
