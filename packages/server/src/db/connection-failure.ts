const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPIPE",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EAI_AGAIN",
]);

/** SQLSTATEs: connection failure, refused login, a server that stops or starts, too many connections, no such database. */
const connectionStates = ["08", "28", "57P", "53300", "3D000"];

const connectionMessages = [
  "timeout exceeded when trying to connect", // of a pool
  "timeout expired", // of a single client
  "Connection terminated",
  "not currently accepting connections",
  "not queryable",
];

/** Whether PostgreSQL could not be reached or went away, as opposed to refusing a statement. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (networkCodes.has(code) || connectionStates.some((state) => code.startsWith(state))) return true;
  return connectionMessages.some((message) => error.message.includes(message));
}

/** Whether a statement exceeded its time limit, as behind a lock. */
export const isStatementTimeout = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "57014";
