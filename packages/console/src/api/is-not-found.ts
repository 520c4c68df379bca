import { PerchError } from "@perch/sdk";

export const isNotFound = (error: unknown): error is PerchError => error instanceof PerchError && error.status === 404;
