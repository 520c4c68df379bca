export class UsageError extends Error {}

export const usage = `Usage: perch-server <command>

  serve                  Serve the API until SIGTERM.
  work                   Run agents for the engine until SIGTERM.
  all                    Both in one process, for a laptop or a small server.
  migrate                Migrate the database to this release.
  create-organisation    Create an organisation and print its first admin key.
                           --name NAME  --tier free|pro|enterprise (default free)
  create-key             Print a new key for an organisation that has lost its own.
                           --organisation ID  --role admin|developer|viewer (default admin)  --name NAME
  set-tier               Change an organisation's tier, and with it its limits.
                           --organisation ID  --tier free|pro|enterprise
  reset-agent-security   Remove an agent's security and auth settings, for an organisation that is locked out.
                           --organisation ID  --agent ID-OR-NAME
  begin-mfa              Print a token with which a key can enrol a second factor, where no admin key has one.
                           --organisation ID  --key ID
  rotate-master-key      Rewrap the data keys under PERCH_MASTER_KEY; set the previous key in PERCH_PREVIOUS_MASTER_KEYS.
  rotate-signing-key     Replace the key that signs calls to tools, MCP servers and remote agents.
                           --overlap-seconds N (default 3600)  or  --revoke, for a key that leaked

Settings come from the environment: see docs/operations/configuration.md.`;
