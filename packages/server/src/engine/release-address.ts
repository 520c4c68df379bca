/**
 * The address of a release's workers in the engine: `<worker url>/releases/<release>/<turn>`. A deployment that was
 * moved away from an address that does not answer has its id after the turn, because two deployments cannot share an
 * address.
 */
export interface ReleaseAddress {
  readonly workerUrl: string;
  readonly release: string;
  readonly turn: number;
}

export const addressOf = ({ workerUrl, release, turn }: ReleaseAddress, movedId?: string): string =>
  `${workerUrl}/releases/${release}/${turn}${movedId === undefined ? "" : `-${movedId}`}`;

const pattern = /^(.*)\/releases\/([^/]+)\/(\d+)(?:-[^/]+)?\/?$/;

/** Undefined for an address that names no release, as those of version 0.1.0. */
export function parseAddress(uri: string): ReleaseAddress | undefined {
  const [, workerUrl, release, turn] = pattern.exec(uri) ?? [];
  return workerUrl === undefined || release === undefined ? undefined : { workerUrl, release, turn: Number(turn) };
}

/** The rest of a request's path after release and turn, or undefined if it is for another release. */
export function pathWithin(release: string, url: string): string | undefined {
  const [, named, rest] = /\/releases\/([^/]+)\/\d+(?:-[^/]+)?(\/.*)$/.exec(url) ?? [];
  return named === release ? rest : undefined;
}
