const WINDOW = 8;

/** Replaces every word that holds a piece of the secret: providers quote keys back, shortened or inside a sentence. */
export function hideSecret(text: string, secret: string | null): string {
  if (!secret) return text;
  const size = Math.min(WINDOW, secret.length);
  const pieces = Array.from({ length: secret.length - size + 1 }, (_, at) => secret.slice(at, at + size));
  return text.replace(/\S+/g, (word) => (pieces.some((piece) => word.includes(piece)) ? "[hidden]" : word));
}
