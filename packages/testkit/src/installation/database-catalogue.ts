import type pg from "pg";

export interface Relation {
  readonly name: string;
  readonly kind: "table" | "partitioned table" | "view" | "materialized view" | "foreign table";
  /** The partitioned table that this one is a part of. */
  readonly parent: string | null;
  readonly owner: string;
  readonly hasOrganisation: boolean;
  /** Row-level security is enabled, and forced for the owner too. */
  readonly isForced: boolean;
  /** The rights of each of the given roles, also through a membership or a grant to PUBLIC: "select", "update (name)". */
  readonly rights: Readonly<Record<string, readonly string[]>>;
}

export interface Policy {
  readonly table: string;
  readonly name: string;
  readonly permissive: "PERMISSIVE" | "RESTRICTIVE";
  readonly command: "ALL" | "SELECT" | "INSERT" | "UPDATE" | "DELETE";
  readonly roles: readonly string[];
  readonly using: string | null;
  readonly check: string | null;
}

export interface DatabaseFunction {
  readonly name: string;
  readonly owner: string;
  /** Runs with the rights of its owner, not of its caller. */
  readonly isSecurityDefiner: boolean;
  readonly hasFixedSearchPath: boolean;
  readonly setsOrganisation: boolean;
  /** Roles that may call it; "public" is every role. */
  readonly callers: readonly string[];
}

const schemas = "n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')";
const notOfExtension = (oid: string) =>
  `not exists (select from pg_depend d where d.objid = ${oid} and d.deptype = 'e')`;
/** A relation outside of `public` is named with its schema. */
const nameOf = (name: string) => `case n.nspname when 'public' then '' else n.nspname || '.' end || ${name}`;

/** All relations that can store or show rows, partitions included, with the rights of these roles. */
export async function listRelations(client: pg.ClientBase, roles: readonly string[]): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(
    `
    select ${nameOf("c.relname")} as name,
           case c.relkind when 'r' then 'table' when 'p' then 'partitioned table' when 'v' then 'view'
             when 'm' then 'materialized view' else 'foreign table' end as kind,
           (select i.inhparent::regclass::text from pg_inherits i where i.inhrelid = c.oid) as parent,
           pg_get_userbyid(c.relowner) as owner,
           c.relname = 'organisations' or exists (
             select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organisation_id' and not a.attisdropped
           ) as "hasOrganisation",
           c.relrowsecurity and c.relforcerowsecurity as "isForced",
           (select jsonb_object_agg(role, array(
             select right_name || case when whole then '' else ' (' || columns || ')' end
               from unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'maintain'])
                 with ordinality as each (right_name, position),
               lateral (select has_table_privilege(role, c.oid, right_name) as whole) as of_table,
               lateral (
                 select string_agg(a.attname, ', ' order by a.attnum) as columns from pg_attribute a
                   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                     and case when right_name in ('select', 'insert', 'update', 'references')
                           then has_column_privilege(role, c.oid, a.attnum, right_name) else false end
               ) as of_columns
               where whole or columns is not null
               order by position
           )) from unnest($1::text[]) as asked (role)) as rights
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and ${schemas} and ${notOfExtension("c.oid")}
      order by 1`,
    [roles],
  );
  return rows;
}

export async function listPolicies(client: pg.ClientBase): Promise<Policy[]> {
  const { rows } = await client.query<Policy>(`
    select tablename as table, policyname as name, permissive, cmd as command, roles::text[] as roles, qual as using,
           with_check as check
      from pg_policies order by tablename, policyname`);
  return rows;
}

export async function listFunctions(client: pg.ClientBase): Promise<DatabaseFunction[]> {
  const { rows } = await client.query<DatabaseFunction>(`
    select ${nameOf("p.proname")} as name, pg_get_userbyid(p.proowner) as owner, p.prosecdef as "isSecurityDefiner",
           exists (select from unnest(p.proconfig) as setting where setting like 'search_path=%') as "hasFixedSearchPath",
           pg_get_functiondef(p.oid) ~* '(set_config\\s*\\(\\s*''|\\mset\\s+(local\\s+|session\\s+)?"?)perch"?\\."?organisation_id'
             as "setsOrganisation",
           array(
             select case grantee when 0 then 'public' else pg_get_userbyid(grantee)::text end
               from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) where grantee <> p.proowner order by 1
           ) as callers
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where p.prokind <> 'a' and ${schemas} and ${notOfExtension("p.oid")}
      order by 1`);
  return rows;
}
