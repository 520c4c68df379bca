import { createContext } from "react";

/** Of the titles within a part of the page, so that they go on from the title of that part. */
export const HeadingLevel = createContext<2 | 3>(3);
