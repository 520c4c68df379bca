import { narrow } from "@perch/testkit/console/browser.ts";
import type { Story } from "@perch/testkit/console/story.ts";
import { dialog, type Overlay, pathOf, press } from "./overlay.ts";

/** The overlays on the pages of memory. */
export const memoryOverlays = (story: Story): readonly Overlay[] => {
  const path = pathOf(story, "memory-user");
  return [
    dialog(path, "Add a memory to support", press("Add memory")),
    dialog(path, "Clear memory of support", press("Clear memory")),
    {
      ...dialog("/memory?agent=support", "Clear memory of support", press("Clear memory")),
      name: "dialog to clear all memory of an agent",
    },
    dialog(pathOf(story, "memory-one"), "Delete this memory", press("Delete memory")),
    {
      ...{ name: "filters of memories on a phone", path, viewports: [narrow], open: press(/^Filters/) },
      shown: (page) => page.getByRole("search"),
    },
    {
      ...{ name: "explanation of a score", path: pathOf(story, "memory-search"), viewports: [narrow] },
      open: press(/^Explain the score/),
      shown: (page) => page.getByText(/^By meaning it is/).first(),
    },
  ];
};
