/** Outlines on a grid of 16, drawn with the colour of the text around them. */
const paths = {
  perch: "M2 12.5h12M8.5 3.5a3.5 3.5 0 1 0 0 7a3.5 3.5 0 1 0 0-7M12 6l2.5 1-2.5 1M8.5 10.5v2",
  agents: "M8 2.5v2M4 6.5h8v6H4zM2.5 8.5v2M13.5 8.5v2M6.5 9v1M9.5 9v1",
  runs: "M2.5 4h6M2.5 8h11M6.5 12h7",
  check: "M3.5 8.5l3 3 6-7",
  cross: "M4 4l8 8M12 4l-8 8",
  pause: "M5.5 4v8M10.5 4v8",
  strike: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M4.2 11.8l7.6-7.6",
  split: "M8 13.5v-4M8 9.5l-4-4v-3M8 9.5l4-4v-3",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M10.5 10.5l3 3",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  sun: "M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.5 3.5l1 1M11.5 11.5l1 1M3.5 12.5l1-1M11.5 4.5l1-1",
  moon: "M12.5 9.5a5 5 0 0 1-6-6a5 5 0 1 0 6 6z",
  person: "M8 2.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M3 13.5c.5-3 2.5-4 5-4s4.5 1 5 4",
  play: "M5 3.5l7 4.5-7 4.5z",
  plus: "M8 3v10M3 8h10",
  left: "M10 3.5L5.5 8l4.5 4.5",
  right: "M6 3.5L10.5 8 6 12.5",
  down: "M3.5 6L8 10.5 12.5 6",
  external: "M9 3h4v4M13 3L7.5 8.5M11 9v4H3V5h4",
  keyboard: "M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9 7h.1M11.5 7h.1M5 9.5h6",
  display: "M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3",
  sign_out: "M9.5 3h-6v10h6M7 8h7M11.5 5.5L14 8l-2.5 2.5",
  settings: "M2.5 4.5h6M11.5 4.5h2M10 3v3M2.5 11.5h2M7.5 11.5h6M6 10v3M2.5 8h8M13 8h.5M12 6.5v3",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 5v3l2 1.5",
  tool: "M10 3a3 3 0 0 0-2.5 4.5L3 12l1 1 4.5-4.5A3 3 0 0 0 12.5 5L11 6.5 9.5 5 11 3.3z",
  model: "M8 2.5l5 3v5l-5 3-5-3v-5zM3 5.5l5 3 5-3M8 8.5v5",
  memory: "M4 4c0-1 8-1 8 0v8c0 1-8 1-8 0zM4 4c0 1 8 1 8 0M4 8c0 1 8 1 8 0",
  log: "M3 3.5h10M3 6.5h7M3 9.5h9M3 12.5h5",
  chart: "M2.5 2.5v11h11M5 10.5l2.5-3 2 2 3.5-5",
  plug: "M6 2.5v3M10 2.5v3M4.5 5.5h7v2a3.5 3.5 0 0 1-7 0zM8 11v2.5",
  hook: "M10 3a2 2 0 1 0-2.5 2L5 10.5M5 10.5a2 2 0 1 0 2 2h4.5M8.5 5.5l3 5M11.5 10.5a2 2 0 1 1 0 2",
  key: "M10.5 2.5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8.4 7.6L3 13M4.5 11.5l1.5 1.5M6.5 9.5l1 1",
  lock: "M4 7.5h8v6H4zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2M8 10v1.5",
  list: "M2.5 4h1M5.5 4h8M2.5 8h1M5.5 8h8M2.5 12h1M5.5 12h8",
  warning: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.3v.1",
  info: "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 1 0 0-11M8 7.5v3.5M8 5.2v.1",
  dots: "M4 8h.1M8 8h.1M12 8h.1",
  server: "M3 3h10v4H3zM3 9h10v4H3zM5 5h.1M5 11h.1",
} as const;
export type IconName = keyof typeof paths;

export const Icon = ({ name, className = "size-4" }: { readonly name: IconName; readonly className?: string }) => (
  <svg
    aria-hidden="true"
    viewBox="0 0 16 16"
    className={`shrink-0 ${className}`}
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
  >
    <path d={paths[name]} />
  </svg>
);
