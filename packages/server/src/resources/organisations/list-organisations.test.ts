import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { expect, test } from "vitest";
import { createTestDatabase } from "../../../test/support/test-database.ts";
import { openAsOwner } from "../../db/open-as-owner.ts";
import { type ListedOrganisation, listOrganisations } from "./list-organisations.ts";

async function collect(url: string, pageSize: number): Promise<ListedOrganisation[]> {
  const db = openAsOwner(url);
  try {
    const listed: ListedOrganisation[] = [];
    for await (const each of listOrganisations(db, pageSize)) listed.push(each);
    return listed;
  } finally {
    await db.destroy();
  }
}

test("the owner lists every organisation, the oldest first and each once, with its agents and usable keys, in pages of any size", async () => {
  const database = await createTestDatabase();
  try {
    await withClient(database.adminUrl, async (admin) => {
      await admin.query(`
        insert into organisations (id, name, tier, created_at)
          select uuidv7, 'Number ' || n, 'pro', '2026-01-01'
            from generate_series(1, 7) as n, lateral (select ('0190000' || n || '-0000-7000-8000-000000000000')::uuid as uuidv7) as id`);
      await admin.query(`
        insert into agents (id, organisation_id, name, status, definition, security, deleted_at)
          select gen_random_uuid(), '01900003-0000-7000-8000-000000000000', 'agent-' || n, 'running', '{}', '{}', case when n > 2 then now() end
            from generate_series(1, 3) as n`);
      await admin.query(`
        insert into api_keys (id, organisation_id, name, digest, prefix, permissions, revoked_at, expires_at)
          select gen_random_uuid(), '01900003-0000-7000-8000-000000000000', 'key', sha256(n::text::bytea), 'p', '{read}',
                 case when n = 1 then now() end, case when n = 2 then now() - interval '1 hour' when n = 3 then now() + interval '1 hour' end
            from generate_series(1, 4) as n`);
    });
    for (const pageSize of [1, 3, 7, 1000]) {
      const listed = await collect(database.ownerUrl, pageSize);
      expect(listed.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5, 6, 7].map((n) => `Number ${n}`));
      expect(listed.map(({ agents, keys }) => [agents, keys])).toEqual(
        [1, 2, 3, 4, 5, 6, 7].map((n) => (n === 3 ? [2, 2] : [0, 0])),
      );
      expect(listed[0]).toEqual({
        id: expect.stringMatching(/^org_\w{26}$/),
        name: "Number 1",
        tier: "pro",
        created_at: "2026-01-01T00:00:00.000Z",
        agents: 0,
        keys: 0,
      });
    }
    // The server's role sees none without saying which one it works for.
    await expect(collect(database.appUrl, 10)).rejects.toThrow("PERCH_MIGRATION_DATABASE_URL");
  } finally {
    await database.drop();
  }
});
