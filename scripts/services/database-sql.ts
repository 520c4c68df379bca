import { developmentPassword } from "./addresses.ts";

const createRole = (name: string) =>
  `select 'create role ${name}' where not exists (select from pg_roles where rolname = '${name}') \\gexec`;

/**
 * For psql, as a superuser, as often as you like. template1 gets the extension so that every database made later has it; it is
 * only visited before `perch` exists, because a session there makes any `create database` of the moment fail.
 */
export const databaseSql = `set client_min_messages = warning;
${["perch_owner", "perch_app", "perch_platform", "perch_server"].map(createRole).join("\n")}
alter role perch_owner login createrole createdb nosuperuser password '${developmentPassword}';
alter role perch_app nologin;
alter role perch_platform nologin;
alter role perch_server login nocreaterole nocreatedb nosuperuser password '${developmentPassword}';
grant perch_app, perch_platform to perch_owner with admin option;
grant perch_app to perch_server;
select not exists (select from pg_database where datname = 'perch') as is_new \\gset
\\if :is_new
\\connect template1
create extension if not exists vector;
create database perch owner perch_owner;
\\endif
\\connect perch
set client_min_messages = warning;
create extension if not exists vector;
`;
