const networkCodes = new Set(["ECONNREFUSED", "ECONNRESET", "EPIPE", "ENOTFOUND", "ETIMEDOUT", "EAI_AGAIN"]);
const connectionMessages = [
  "timeout exceeded when trying to connect",
  "Connection terminated",
  "not currently accepting connections",
];

/** Whether PostgreSQL could not be reached or went away, as opposed to refusing a statement. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  // Class 08 is connection failure, 57P a server that stops or starts, 53300 a server with no free place.
  if (networkCodes.has(code) || code.startsWith("08") || code.startsWith("57P") || code === "53300") return true;
  return connectionMessages.some((message) => error.message.includes(message));
}
