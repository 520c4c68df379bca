const WINDOW = 8;

/** Replaces every word that holds a piece of the secret: providers quote keys back, shortened or inside a sentence. */
export function redactSecret(text: string, secret: string | null): string {
  if (!secret) return text;
  const size = Math.min(WINDOW, secret.length);
  const pieces = new Set(Array.from({ length: secret.length - size + 1 }, (_, at) => secret.slice(at, at + size)));
  const holdsPiece = (word: string): boolean => {
    for (let at = 0; at + size <= word.length; at++) if (pieces.has(word.slice(at, at + size))) return true;
    return false;
  };
  return text.replace(/\S+/g, (word) => (holdsPiece(word) ? "[hidden]" : word));
}
