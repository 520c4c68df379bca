export class UsageError extends Error {}

export const usage = `Usage: perch-server <command>

  serve                  Serve the API until SIGTERM.
  work                   Run agents for the engine until SIGTERM.
  all                    Both in one process, for a laptop or a small server.
  migrate                Bring the database up to this release.
  create-organisation    Make an organisation and print its first admin key.
                           --name NAME  --tier free|pro|enterprise (default free)
  create-key             Print a new key for an organisation that has lost its own.
                           --organisation ID  --role admin|developer|viewer (default admin)  --name NAME
  set-tier               Change how much an organisation may ask for.
                           --organisation ID  --tier free|pro|enterprise
  reset-agent-security   Take an agent's security and auth settings away: the way back in for who is locked out.
                           --organisation ID  --agent ID-OR-NAME
  rotate-master-key      Put the data keys under PERCH_MASTER_KEY; the one before stands in PERCH_PREVIOUS_MASTER_KEYS.

Settings come from the environment: see docs/operations/configuration.md.`;
