/** A role that logs in, with PostgreSQL's stored form of its password. */
export interface Login {
  readonly name: string;
  readonly verifier: string;
  /** Whether a role that exists already gets this password too. */
  readonly replacesPassword: boolean;
}

/** The SQL that makes PostgreSQL ready for `migrate` and `serve`. Every statement may run any number of times. */
export interface Preparation {
  readonly database: string;
  /** Owns the database and its tables, and migrates. It needs no right beyond that database. */
  readonly owner: Login;
  /** The server's own. */
  readonly server: Login;
}

const maxNameBytes = 63;

/** PostgreSQL would cut a longer name short without an error. */
export const isName = (text: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: psql reads its script line by line.
  /^[^\x00-\x1f\x7f]+$/.test(text) && Buffer.byteLength(text) <= maxNameBytes;

export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A block of PL/pgSQL, in a quote that its own text does not contain. */
function block(body: string): string {
  let tag = "$perch$";
  for (let count = 1; body.includes(tag); count++) tag = `$perch${count}$`;
  return `do ${tag}\nbegin\n${body}\nend\n${tag};`;
}

const createIfMissing = (name: string, attributes: string): string =>
  `  if not exists (select from pg_roles where rolname = ${literal(name)}) then
    create role ${identifier(name)} ${attributes};
  end if;`;

/** A membership that only allows to administer the role, as its creator has it, is not enough to use its rights. */
const grantIfMissing = (role: string, member: string): string =>
  `  if not (pg_has_role(${literal(member)}, ${literal(role)}, 'usage') and pg_has_role(${literal(member)}, ${literal(role)}, 'set')) then
    grant ${role} to ${identifier(member)};
  end if;`;

const createLogin = ({ name, verifier }: Login): string => createIfMissing(name, `login password ${literal(verifier)}`);

const replacePassword = ({ name, verifier, replacesPassword }: Login): string[] =>
  replacesPassword ? [`  alter role ${identifier(name)} login password ${literal(verifier)};`] : [];

/** In any database, by a superuser or a role with CREATEROLE. */
export function rolesSql({ owner, server }: Preparation): string {
  return block(
    [
      "  -- Nobody logs in as these. perch_app is what the server may do; the others own functions.",
      ...["perch_app", "perch_platform", "perch_recorder"].map((name) => createIfMissing(name, "nologin")),
      ...[owner, server].map(createLogin),
      ...[owner, server].flatMap(replacePassword),
      grantIfMissing("perch_platform", owner.name),
      grantIfMissing("perch_recorder", owner.name),
      grantIfMissing("perch_app", server.name),
      "  -- Whoever is no superuser creates a database only for an owner whose member it is.",
      `  if not pg_has_role(current_user, ${literal(owner.name)}, 'set') then
    execute format('grant %I to %I', ${literal(owner.name)}, current_user);
  end if;`,
    ].join("\n"),
  );
}

/** Neither conditional nor in a transaction: PostgreSQL allows neither. */
export const createDatabaseSql = (database: string, owner: string, template?: string): string =>
  `create database ${identifier(database)} owner ${identifier(owner)}${template === undefined ? "" : ` template ${identifier(template)}`}`;

const isMissing = (database: string): string =>
  `not exists (select from pg_database where datname = ${literal(database)})`;

/**
 * Run by the owner of the database, or a superuser. A superuser's database gets the owner, because tables and functions
 * should belong to a plain role; any other owner stays. Only the two logins and superusers may connect.
 */
export function databaseRightsSql(database: string, owner: string): readonly string[] {
  return [
    block(`  if exists (select from pg_database d join pg_roles r on r.oid = d.datdba
             where datname = ${literal(database)} and rolsuper and rolname <> ${literal(owner)}) then
    alter database ${identifier(database)} owner to ${identifier(owner)};
  end if;
  if (select pg_get_userbyid(datdba) from pg_database where datname = ${literal(database)}) <> ${literal(owner)} then
    raise exception 'The database belongs to another role than the one that shall own its tables.'
      using hint = 'Name its owner with --owner, or change it: alter database … owner to …';
  end if;`),
    `revoke connect, temporary on database ${identifier(database)} from public;`,
    `grant connect on database ${identifier(database)} to perch_app;`,
  ];
}

/** In the database, by its owner: it is a trusted extension. */
export const trustedExtensionSql = "create extension if not exists btree_gin;";
/** In the database, by a superuser: pgvector is not a trusted extension unless its packager made it one. */
export const vectorSql = "create extension if not exists vector;";

/** psql takes an argument with a `=` for a connection string, so a name that is not plain is given as part of one. */
function connect(database: string): string {
  if (/^[\w-]+$/.test(database)) return `\\connect ${identifier(database)}`;
  const value = database.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
  return `\\connect -reuse-previous=on ${identifier(`dbname='${value}'`)}`;
}

/** All of it, for psql. */
export function preparationScript(preparation: Preparation): string {
  const { database, owner } = preparation;
  return `set client_min_messages = warning;
${rolesSql(preparation)}
select ${literal(createDatabaseSql(database, owner.name))} where ${isMissing(database)} \\gexec
${connect(database)}
set client_min_messages = warning;
${databaseRightsSql(database, owner.name).join("\n")}
${trustedExtensionSql}
-- The next statement needs a superuser, unless your pgvector is packaged as a trusted extension.
${vectorSql}
`;
}
