import { PerchError } from "@perch/sdk";

export const isNotFound = (error: unknown): boolean => error instanceof PerchError && error.status === 404;
