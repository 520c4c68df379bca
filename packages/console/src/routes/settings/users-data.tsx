import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { erasuresQuery } from "../../api/erasures-queries.ts";
import { PagedList } from "../../lists/paged-list.tsx";
import { MayNot } from "../../parts/may-not.tsx";
import { Section } from "../../parts/section.tsx";
import { useCan, useMe } from "../../session/session.ts";
import { EraseUser } from "./users-data/erase-user.tsx";
import { ErasureTable } from "./users-data/erasure-table.tsx";
import { ErasureReceipt } from "./users-data/receipt.tsx";

function Erasures() {
  const { erasure: opened } = useSearch({ from: "/signed-in/settings/users-data" });
  const navigate = useNavigate();
  const query = useInfiniteQuery(erasuresQuery);
  const open = (erasure: string | undefined) =>
    void navigate({ to: "/settings/users-data", search: (before) => ({ ...before, erasure }), resetScroll: false });
  return (
    <>
      <Section title="Erase a user">
        <p className="text-table">
          Removes the stored data of one user of your application, in all agents of the organisation. It goes on in the
          background and ends with a receipt.
        </p>
        <EraseUser onRequested={open} />
      </Section>
      <Section title="Erasures">
        {opened !== undefined && <ErasureReceipt key={opened} id={opened} onClose={() => open(undefined)} />}
        <PagedList
          query={query}
          what="erasures"
          empty={
            <p className="text-muted text-table">
              No user was erased in the last 400 days. An erasure and its receipt appear here.
            </p>
          }
        >
          {(erasures) => <ErasureTable erasures={erasures} opened={opened} />}
        </PagedList>
      </Section>
    </>
  );
}

/** The stored data of users, and how to erase it. */
export function UsersData() {
  const canManage = useCan("manage");
  const isOfOneAgent = useMe().key.agent_id !== null;
  return (
    <div className="mx-auto max-w-[1280px] px-4 pb-8">
      {canManage && !isOfOneAgent ? (
        <Erasures />
      ) : (
        <div className="py-4">
          {canManage ? (
            <p className="text-muted">
              You are signed in with a key of one agent. Users are erased in all of them, so this needs a key of the
              organisation.
            </p>
          ) : (
            <MayNot what="erase users' data or read receipts" permission="manage" />
          )}
        </div>
      )}
    </div>
  );
}
