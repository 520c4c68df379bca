import { narrow } from "@perch/testkit/console/browser.ts";
import type { Story } from "@perch/testkit/console/story.ts";
import { both, type Overlay, press } from "./overlay.ts";

export const metricsOverlays = (_story: Story): readonly Overlay[] => [
  {
    ...{ name: "values of charts as a table", path: "/metrics?agent=support&granularity=1h", viewports: both },
    open: press("Show the values as a table"),
    shown: (page) => page.getByRole("region", { name: "Values of the charts" }),
  },
  {
    ...{ name: "filters of metrics on a phone", path: "/metrics?agent=support&version=v2", viewports: [narrow] },
    open: press(/^Filters/),
    shown: (page) => page.getByRole("search"),
  },
];
