const units = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** How long something lasted, in its two largest units: `3 d 4 h`, `5 min`, `12 s`. */
export function formatSpan(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1000));
  const found: string[] = [];
  for (const [unit, length] of units) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) found.push(`${count} ${unit}`);
    // Seconds are not worth showing beside hours.
    else if (found.length > 0) break;
    if (found.length === 2) break;
  }
  return found.join(" ") || "0 s";
}
