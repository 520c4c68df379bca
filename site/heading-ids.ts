/** The ids that GitHub gives to headings, so that a link to a heading works in both places. */
export function createHeadingIds(): (text: string) => string {
  const uses = new Map<string, number>();
  return (text) => {
    const id = headingId(text);
    const earlier = uses.get(id) ?? 0;
    uses.set(id, earlier + 1);
    return earlier === 0 ? id : `${id}-${earlier}`;
  };
}

export function headingId(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
    .replace(/ /g, "-");
}
