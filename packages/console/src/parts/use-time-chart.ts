import { type RefObject, useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { chartOptions, type Drawn, heightOf } from "./time-chart-options.ts";

const dataOf = ({ times, series }: Drawn): uPlot.AlignedData => [
  [...times],
  ...series.map(({ values }) => [...values]),
];

const hasSameData = (a: Drawn, b: Drawn): boolean =>
  a.times === b.times && a.series.every(({ values }, index) => values === b.series[index]?.values);

/** One chart for as long as the page is open. New data is passed to it, and unchanged parts are not drawn again. */
export function useTimeChart(parent: RefObject<HTMLElement | null>, drawn: Drawn): number | null {
  const [hovered, setHovered] = useState<number | null>(null);
  const chart = useRef<uPlot>(undefined);
  const latest = useRef(drawn);
  useEffect(() => {
    const element = parent.current;
    if (!element) return;
    const options = chartOptions(element.clientWidth, () => latest.current, setHovered);
    const created = new uPlot(options, dataOf(latest.current), element);
    chart.current = created;
    const resized = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width !== created.width) created.setSize({ width, height: heightOf(latest.current) });
    });
    resized.observe(element);
    const themed = new MutationObserver(() => created.redraw());
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      created.destroy();
      chart.current = undefined;
    };
  }, [parent]);
  useEffect(() => {
    const before = latest.current;
    latest.current = drawn;
    if (!hasSameData(before, drawn)) chart.current?.setData(dataOf(drawn));
    else if (before.marks !== drawn.marks) chart.current?.redraw(false);
  });
  return hovered;
}
