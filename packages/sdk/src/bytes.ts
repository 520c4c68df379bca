export type Bytes = Uint8Array<ArrayBuffer>;

/** A request's body as it came: text or bytes. */
export type RawBody = string | Uint8Array | ArrayBuffer;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

export function bytesOfBody(body: RawBody): Bytes {
  if (typeof body === "string") return utf8(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  throw new TypeError("Give the raw body of the request, as it came: text or bytes, not parsed JSON");
}

export function bytesOfBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

export const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
