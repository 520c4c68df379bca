const blocks = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const formatNumber = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toFixed(3)));

/** Neighbours share a column if there are more values than columns. The largest is shown, so that no peak is lost. */
function downsample(values: readonly number[], columns: number): number[] {
  if (values.length <= columns) return [...values];
  return Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * values.length) / columns);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / columns));
    return Math.max(...values.slice(from, to));
  });
}

/** A chart of `rows` lines, with its scale on the left. */
export function chart(values: readonly number[], columns: number, rows = 6): string[] {
  const top = Math.max(...values, 0);
  const scale = [formatNumber(top), ...Array.from({ length: rows - 2 }, () => ""), "0"];
  const margin = Math.max(...scale.map(({ length }) => length));
  const bars = downsample(values, Math.max(10, columns - margin - 2));
  return scale.map((mark, row) => {
    const floor = rows - 1 - row;
    const cells = bars.map((value) => {
      const height = top === 0 ? 0 : (value / top) * rows - floor;
      if (height <= 0) return " ";
      return height >= 1 ? "█" : (blocks[Math.min(7, Math.floor(height * 8))] ?? " ");
    });
    return `${mark.padStart(margin)} ┤${cells.join("").trimEnd()}`;
  });
}
