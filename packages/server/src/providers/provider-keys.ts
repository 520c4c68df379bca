import type { Sealer } from "../platform/secrets.ts";

interface Place {
  readonly organisationId: string;
  readonly name: string;
  readonly baseUrl: string | null;
}

/** The address belongs to the place: an API key never goes anywhere but where it was given for. */
const placeOf = ({ organisationId, name, baseUrl }: Place) => JSON.stringify([organisationId, name, baseUrl]);

export const sealApiKey = (sealer: Sealer, apiKey: string | null, place: Place): Buffer | null =>
  apiKey === null ? null : sealer.seal(apiKey, placeOf(place));

export const openApiKey = (sealer: Sealer, sealed: Buffer | null, place: Place): string | null =>
  sealed === null ? null : sealer.open(sealed, placeOf(place));
