import { randomBytes } from "node:crypto";
import { serviceUrl, withClient } from "../../scripts/testbed/scratch-database.ts";
import type { Trial } from "./trial.ts";

export interface PreparedDatabase {
  /** For `migrate`. */
  readonly ownerUrl: string;
  /** For the server, which owns nothing. */
  readonly serverUrl: string;
}

const groups = ["perch_app", "perch_platform", "perch_recorder"];

/** Roles are of the whole PostgreSQL, and those of the groups may be there from another database. */
const createGroup = (name: string): string =>
  `do $$ begin if not exists (select from pg_roles where rolname = '${name}') then create role ${name} nologin; end if; end $$`;

/** What docs/operations asks for before `perch-server migrate`, from nothing but a superuser: roles, a database, an extension. */
export async function prepareDatabase(trial: Trial): Promise<PreparedDatabase> {
  const adminUrl = serviceUrl("PERCH_DATABASE_ADMIN_URL");
  const name = `perch_trial_${randomBytes(6).toString("hex")}`;
  const [owner, server] = [`${name}_owner`, `${name}_server`];
  const password = randomBytes(16).toString("hex");
  const urlOf = (role: string) => {
    const url = new URL(adminUrl);
    Object.assign(url, { username: role, password, pathname: `/${name}` });
    return url.href;
  };
  const send = (url: string, statements: readonly string[]) =>
    withClient(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  trial.onEnd(() =>
    send(adminUrl, [
      `drop database if exists ${name} with (force)`,
      `drop role if exists ${server}`,
      `drop role if exists ${owner}`,
    ]),
  );
  await send(adminUrl, [
    ...groups.map(createGroup),
    `create role ${owner} login createrole password '${password}'`,
    `create role ${server} login password '${password}'`,
    `grant ${groups.join(", ")} to ${owner} with admin option`,
    `grant perch_app to ${server}`,
    `create database ${name} owner ${owner}`,
  ]);
  const inside = new URL(adminUrl);
  inside.pathname = `/${name}`;
  await send(inside.href, ["create extension if not exists vector"]);
  return { ownerUrl: urlOf(owner), serverUrl: urlOf(server) };
}
