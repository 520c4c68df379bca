import type uPlot from "uplot";

/** A colour of the theme, as it is now. */
export const colourOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name);

const ofDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const ofYear = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const daySeconds = 86_400;

const isMidnight = (date: Date): boolean => date.getHours() === 0 && date.getMinutes() === 0;

/** The hour within a day, and the date where a day begins: the axis of a week may have hours, too. */
export const timeLabels = (_chart: uPlot, splits: number[], _axis: number, _space: number, incr: number): string[] =>
  splits.map((seconds) => {
    const date = new Date(seconds * 1000);
    return (incr >= daySeconds || isMidnight(date) ? ofYear : ofDay).format(date);
  });

/** Values between two gaps. No line passes through them, so they are drawn as points. */
export function loneValues(chart: uPlot, seriesIndex: number): number[] {
  const values = chart.data[seriesIndex] ?? [];
  const isGap = (index: number) => (values[index] ?? null) === null;
  return [...values.keys()].filter((index) => !isGap(index) && isGap(index - 1) && isGap(index + 1));
}

/** Vertical lines with their labels, newest first. A label that would overlap another is left out; its line stays. */
export function drawMarks(
  chart: uPlot,
  marks: readonly { readonly atSeconds: number; readonly label: string }[],
): void {
  const { ctx, bbox } = chart;
  const ratio = devicePixelRatio;
  const right = bbox.left + bbox.width;
  let free = right;
  ctx.save();
  ctx.font = `${11 * ratio}px sans-serif`;
  ctx.fillStyle = ctx.strokeStyle = colourOf("--canary");
  ctx.textAlign = "left";
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  for (const { atSeconds, label } of [...marks].sort((a, b) => b.atSeconds - a.atSeconds)) {
    const x = Math.round(chart.valToPos(atSeconds, "x", true));
    if (x < bbox.left || x > right) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const textWidth = ctx.measureText(label).width;
    // To the right of its line, or to the left if there is no room.
    const left = x + 4 * ratio + textWidth > right ? x - 4 * ratio - textWidth : x + 4 * ratio;
    if (left + textWidth > free) continue;
    ctx.fillText(label, left, bbox.top + 10 * ratio);
    free = left - 4 * ratio;
  }
  ctx.restore();
}
