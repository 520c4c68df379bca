/** An option of a command, as `parseArgs` accepts it, and its help text. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly default?: string | boolean;
  /** The word for its value in the help. */
  readonly value?: string;
  readonly text: string;
}

interface CommandEntry {
  readonly summary: string;
  readonly details?: string;
  readonly options: Readonly<Record<string, Option>>;
}

const organisation = { type: "string", value: "ID", text: "The organisation's id, such as org_01h455…" } as const;

const supervised = {
  type: "boolean",
  default: false,
  text: "Obey the process that started this one. `all` sets it.",
} as const;

/** Every command with its options: `parseArgs` and the help read the same table. */
export const commandTable = {
  serve: { summary: "Serve the API until SIGTERM.", options: { supervised } },
  work: { summary: "Run agents for the engine until SIGTERM.", options: { supervised } },
  all: { summary: "Both, for a laptop or a small server: with Valkey in a process each, else in one.", options: {} },
  "create-secrets": {
    summary: "Write the passwords and keys of a new installation, a file each.",
    details:
      "Creates the files that are missing and never changes one that is there, so it may run again at any time. Only the owner of the folder can enter it. The files themselves are readable, so that containers that run as other users can read those that are mounted into them.",
    options: {
      dir: { type: "string", value: "DIR", text: "The folder for the files. It is created if it does not exist." },
      "database-host": {
        type: "string",
        value: "HOST",
        default: "postgres:5432",
        text: "Host and port of PostgreSQL, for the addresses.",
      },
      "valkey-host": {
        type: "string",
        value: "HOST",
        default: "valkey:6379",
        text: "Host and port of Valkey, for its address.",
      },
    },
  },
  "prepare-database": {
    summary: "Print or run the SQL that makes PostgreSQL ready for `migrate`.",
    details:
      "Creates the roles, the database and its extensions, with no more rights than needed, and prints the two settings with the addresses. It needs no settings, and may run again at any time. Without --run it prints a script for psql, which a superuser runs.",
    options: {
      run: { type: "boolean", default: false, text: "Run the SQL instead of printing it." },
      url: {
        type: "string",
        value: "URL",
        text: "With --run: PostgreSQL, as a superuser or a role with CREATEROLE. PGPASSWORD is read.",
      },
      "password-file": {
        type: "string",
        value: "FILE",
        text: "With --run: a file with the password of the role in --url.",
      },
      "wait-seconds": {
        type: "string",
        value: "N",
        default: "0",
        text: "With --run: how long to wait for PostgreSQL, if it does not answer.",
      },
      database: {
        type: "string",
        value: "NAME",
        text: "The database. Default: the one in --url, or perch if that is postgres.",
      },
      owner: {
        type: "string",
        value: "NAME",
        text: "The role that owns the tables. Default: perch_owner; with --run, the owner of the database unless that is a superuser.",
      },
      "owner-password-file": {
        type: "string",
        value: "FILE",
        text: "A file with the owner's password. Without it, a new role gets one that is printed.",
      },
      server: { type: "string", value: "NAME", default: "perch_server", text: "The role that the server logs in as." },
      "server-password-file": { type: "string", value: "FILE", text: "The same for the server's role." },
    },
  },
  migrate: {
    summary: "Migrate the database to this release.",
    details:
      "If the database was at an earlier release, this release also becomes the active one, as with activate-release. If it was at this release or a newer one, the active release stays.",
    options: {
      "activate-release": {
        type: "boolean",
        default: false,
        text: "Make this release the active one in any case, also when going back to it.",
      },
    },
  },
  "activate-release": {
    summary: "Give new runs to the workers of this release.",
    details:
      "Runs that have begun end on the release on which they began. To go back to an earlier release, run the activate-release of that release. It may run before or after the workers start, and any number of times. It refuses to activate a release that does not understand what the active one does, because agents that use it would get 503.",
    options: {
      force: {
        type: "boolean",
        default: false,
        text: "Activate it although it understands less than the active release.",
      },
    },
  },
  releases: {
    summary: "List the releases that the engine knows, with the runs that can end only there.",
    options: { json: { type: "boolean", default: false, text: "Print one JSON object on each line." } },
  },
  retire: {
    summary: "Make the engine forget a release that has no runs left.",
    details: "Refuses while runs are left or new ones arrive. After a day, housekeeping does the same by itself.",
    options: { id: { type: "string", value: "ID", text: "The id in the list of releases, such as dp_16C8TpVV…" } },
  },
  doctor: {
    summary: "Check the settings and every part of the installation, and say how to fix what is wrong.",
    details:
      "Changes nothing. Each check is one line: ok, warning, FAILED, or skipped because something else failed. Run it where a worker runs, with the worker's settings. The exit code is 0 if nothing failed, and 1 otherwise.",
    options: { json: { type: "boolean", default: false, text: "Print one JSON object when all checks have ended." } },
  },
  "create-organisation": {
    summary: "Create an organisation and print its first admin key.",
    options: {
      name: { type: "string", value: "NAME", text: "Its name, up to 100 characters." },
      tier: { type: "string", value: "TIER", default: "free", text: "free, pro or enterprise." },
    },
  },
  "list-organisations": {
    summary: "List all organisations, with how many agents and usable keys each has.",
    details:
      "Connects as the owner of the tables, with PERCH_MIGRATION_DATABASE_URL: the server's role sees one organisation at a time.",
    options: { json: { type: "boolean", default: false, text: "Print one JSON object on each line." } },
  },
  "create-key": {
    summary: "Print a new key for an organisation that has lost its own, or for an operator.",
    options: {
      organisation,
      role: {
        type: "string",
        value: "ROLE",
        text: "admin, developer or viewer. Unless given: viewer with --operate, admin without.",
      },
      name: { type: "string", value: "NAME", default: "made by an operator", text: "The key's name." },
      operate: {
        type: "boolean",
        default: false,
        text: "Add the permission operate, which is in no role: the key also sees the health of the whole installation.",
      },
      approve: {
        type: "boolean",
        default: false,
        text: "Add the permission approve, which is in no role: the key also decides on approvals. For an organisation in which manage does not give approve and no key has it.",
      },
    },
  },
  "set-tier": {
    summary: "Change an organisation's tier, and with it its limits.",
    options: { organisation, tier: { type: "string", value: "TIER", text: "free, pro or enterprise." } },
  },
  "set-organisation": {
    summary: "Change what an organisation allows.",
    details:
      "An organisation can forbid through the API that manage gives approve. Only this command allows it again: ask who in the organisation wants it, and why, before you run it.",
    options: {
      organisation,
      "manage-grants-approve": {
        type: "string",
        value: "on|off",
        text: "Whether keys and people with manage may give approve without having it.",
      },
    },
  },
  "erase-organisation": {
    summary: "Delete an organisation with all that it has, for good.",
    details:
      "Without --yes it prints what would go, and changes nothing. With --yes its keys stop working at once, its runs under way are cancelled and waited for, and then its rows, its entries in the engine and its keys in Valkey are deleted. If it is interrupted, run it again. Keep the receipt that it prints: the audit log is deleted too, so nothing else says what was removed. It connects as the owner of the tables, with PERCH_MIGRATION_DATABASE_URL, and with --yes the engine's admin port and Valkey must be reachable from where it runs.",
    options: {
      organisation,
      yes: { type: "boolean", default: false, text: "Erase it. This cannot be undone." },
      json: { type: "boolean", default: false, text: "Print the receipt as one JSON object." },
    },
  },
  "reset-agent-security": {
    summary: "Remove an agent's security and auth settings but `approvals`, for an organisation that is locked out.",
    options: { organisation, agent: { type: "string", value: "AGENT", text: "The agent's id or name." } },
  },
  "begin-mfa": {
    summary: "Print a token with which a key can enrol a second factor, where no admin key has one.",
    options: { organisation, key: { type: "string", value: "ID", text: "The key's id, such as key_01h455…" } },
  },
  "rotate-master-key": {
    summary: "Rewrap the data keys under PERCH_MASTER_KEY.",
    details: "Set the previous key in PERCH_PREVIOUS_MASTER_KEYS.",
    options: {},
  },
  "rotate-signing-key": {
    summary: "Replace the key that signs calls to tools, MCP servers and remote agents.",
    options: {
      "overlap-seconds": {
        type: "string",
        value: "N",
        text: "How long the new key is listed before it signs. 3600 unless given.",
      },
      revoke: { type: "boolean", default: false, text: "For a key that leaked: sign with the new key at once." },
    },
  },
  "install-embedder": {
    summary: "Download the weights of perch/minilm (17 MB) to PERCH_LOCAL_EMBEDDER_DIR.",
    options: {
      from: { type: "string", value: "PATH", text: "A file or folder to take them from, without a network." },
    },
  },
} as const satisfies Readonly<Record<string, CommandEntry>>;

export type CommandName = keyof typeof commandTable;
