import { causesOf } from "./outbound-errors.ts";

/** No connection came about, so nothing was sent. */
export interface ConnectFailure {
  /** A clause about the other side, for users: no address, because these may be private. */
  readonly reason: string;
  /** Advice for the user. `setting` names the setting that contains the address. */
  readonly adviceAbout: (setting: string) => string;
  /** Whether it may be there in a moment. A certificate that is not trusted now is not trusted then either. */
  readonly isTransient: boolean;
  /** The host name does not exist. */
  readonly isUnknownName?: true;
}

type Kind = Omit<ConnectFailure, "reason"> & { readonly clause: string; readonly codes: RegExp };

const kinds: readonly Kind[] = [
  {
    codes: /^ECONNREFUSED$/,
    clause: "it refuses connections",
    adviceAbout: (setting) => `Start it, or correct ${setting}.`,
    isTransient: true,
  },
  {
    codes: /^(ENOTFOUND|ENODATA)$/,
    clause: "its host name was not found",
    adviceAbout: (setting) => `Correct ${setting}.`,
    isTransient: true,
    isUnknownName: true,
  },
  {
    codes: /^EAI_AGAIN$/,
    clause: "its host name could not be looked up",
    adviceAbout: (setting) => `Check the server's DNS, or correct ${setting}.`,
    isTransient: true,
  },
  {
    codes: /^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/,
    clause: "no route leads to it",
    adviceAbout: (setting) => `Check the server's network, or correct ${setting}.`,
    isTransient: true,
  },
  {
    codes: /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    clause: "it did not accept a connection in time",
    adviceAbout: (setting) => `Start it, or correct ${setting}.`,
    isTransient: true,
  },
  {
    codes: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    clause: "it does not speak TLS",
    adviceAbout: (setting) => `Correct ${setting}, which may have to begin with http:.`,
    isTransient: false,
  },
  {
    // OpenSSL's names for problems with a certificate, and Node's own.
    codes: /CERT|^(INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)$/,
    clause: "its certificate is not trusted",
    adviceAbout: (setting) => `Give it a certificate that the server trusts, or correct ${setting}.`,
    isTransient: false,
  },
];

function toConnectFailure(code: string): ConnectFailure | undefined {
  const kind = kinds.find(({ codes }) => codes.test(code));
  return kind && { ...kind, reason: `${kind.clause} (${code})` };
}

/** Why no connection came about; undefined if one did, or if that is not known. */
export function findConnectFailure(error: unknown): ConnectFailure | undefined {
  for (const cause of causesOf(error)) {
    const { code, syscall } = cause as { readonly code?: unknown; readonly syscall?: unknown };
    // An open connection can end with the same codes, and then something may have been sent.
    const wasOpen = syscall === "read" || syscall === "write";
    const found = typeof code === "string" && !wasOpen ? toConnectFailure(code) : undefined;
    if (found) return found;
  }
  return undefined;
}
