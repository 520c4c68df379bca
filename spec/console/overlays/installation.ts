import type { Story } from "@perch/testkit/console/story.ts";
import type { Overlay } from "./overlay.ts";

export const installationOverlays = (_story: Story): readonly Overlay[] => [];
