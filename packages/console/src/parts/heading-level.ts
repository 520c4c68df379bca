import { createContext } from "react";

/** The heading level within a part of the page, one below the heading of that part. */
export const HeadingLevel = createContext<2 | 3>(3);
