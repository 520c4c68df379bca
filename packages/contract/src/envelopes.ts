import { z } from "zod";

export const Timestamp = z.iso.datetime().meta({ id: "Timestamp", example: "2026-01-31T12:00:00.000Z" });

const yearOf = (text: string): number => new Date(text).getUTCFullYear();

const UpperCaseInstant = z.iso
  .datetime({ offset: true, error: "Expected a time such as 2026-01-31T12:00:00Z" })
  // A text that is not a time was refused before, and has no year.
  .refine((text) => !(yearOf(text) < 0 || yearOf(text) > 9999), "Expected a time in the years 0 to 9999");

/**
 * A time that a request names, with any offset. Answers write it in UTC, where years have four digits. RFC 3339 also allows `t` and `z`
 * in lower case.
 */
export const Instant = z.preprocess(
  (value) => (typeof value === "string" ? value.toUpperCase() : value),
  UpperCaseInstant,
) as unknown as typeof UpperCaseInstant;

export const Pagination = z
  .object({
    limit: z.int(),
    offset: z.int(),
    total: z.int().describe("Number of items on all pages."),
    has_more: z.boolean(),
  })
  .meta({ id: "Pagination" });
export type Pagination = z.infer<typeof Pagination>;

/** `{success: true, data}`: one object, or the outcome of an action. */
export const single = <T extends z.ZodType>(data: T) => z.object({ success: z.literal(true), data });

/** `{data: [...], pagination}`. */
export const list = <T extends z.ZodType>(item: T) => z.object({ data: z.array(item), pagination: Pagination });

const TotalRelation = z
  .enum(["eq", "gte"])
  .describe("`eq`: `total` is exact. `gte`: there are at least `total` items.");

/** A list whose `total` is counted up to 10,000: beyond that `total_relation` is `gte`. */
export const cappedList = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    pagination: Pagination.extend({ total_relation: TotalRelation }).meta({ id: "CappedPagination" }),
  });

/** A list that can also be paged with a cursor. `total` is counted as in `cappedList`. */
export const cursorList = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    pagination: Pagination.extend({
      total_relation: TotalRelation,
      next_cursor: z.string().nullable().describe("`cursor` of the next page; null on the last page."),
    }).meta({ id: "CursorPagination" }),
  });

/** A list that is paged only with a cursor and not counted, so that a page costs the same however much is stored. */
export const uncountedList = <T extends z.ZodType>(item: T) =>
  z.object({
    data: z.array(item),
    pagination: z
      .object({
        limit: z.int(),
        has_more: z
          .boolean()
          .describe("Whether there may be more: a page can be short, or empty, although `next_cursor` continues."),
        next_cursor: z.string().nullable().describe("`cursor` of the next page; null on the last page."),
      })
      .meta({ id: "UncountedPagination" }),
  });

interface WholeNumber {
  readonly min: number;
  readonly max: number;
  readonly default: number;
  readonly description: string;
}

/** A query parameter is text. Only plain digits count, because `Number` would also accept "", "0x10" and "1e2". */
const fromDigits = (value: unknown) => (typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value);

const wholeNumber = ({ min, max, default: fallback, description }: WholeNumber) => {
  const number = z
    .int(`Expected a whole number from ${min} to ${max}`)
    .min(min)
    .max(max)
    .default(fallback)
    .describe(description);
  return z.preprocess(fromDigits, number) as unknown as typeof number;
};

export const optionalWholeNumber = ({ min, max, description }: Omit<WholeNumber, "default">) => {
  const number = z
    .int(`Expected a whole number from ${min} to ${max}`)
    .min(min)
    .max(max)
    .optional()
    .describe(description);
  return z.preprocess(fromDigits, number) as unknown as typeof number;
};

/** A query parameter that is `true` or `false`. */
export const flagQuery = (description: string) => {
  const flag = z.boolean("Expected true or false").default(false).describe(description);
  const parse = (value: unknown) => (value === "true" || value === "false" ? value === "true" : value);
  return z.preprocess(parse, flag) as unknown as typeof flag;
};

export const pageQuery = {
  limit: wholeNumber({ min: 1, max: 100, default: 10, description: "Maximum number of items to return." }),
  offset: wholeNumber({ min: 0, max: Number.MAX_SAFE_INTEGER, default: 0, description: "Number of items to skip." }),
};

const cursor = z.string().max(200).optional().describe("`pagination.next_cursor` of the previous page.");

/** For entries that grow without end: deep offsets are bounded, a cursor is not. */
export const cursorQuery = {
  limit: wholeNumber({ min: 1, max: 1000, default: 100, description: "Maximum number of entries to return." }),
  offset: wholeNumber({
    min: 0,
    max: 100_000,
    default: 0,
    description: "Number of entries to skip. `cursor` is faster.",
  }),
  cursor,
};

/** For an `uncountedList`. */
export const uncountedQuery = {
  limit: wholeNumber({ min: 1, max: 100, default: 10, description: "Maximum number of items to return." }),
  cursor,
};

/** `sort=name` ascends, `sort=-name` descends. Only fields with an index behind them are offered. */
export const sortQuery = <const Fields extends readonly string[]>(fields: Fields) => {
  type Sort = Fields[number] | `-${Fields[number]}`;
  const sort = z
    .enum(fields.flatMap((field) => [field, `-${field}`]))
    .default("-created_at")
    .describe("Field to sort by. A leading `-` sorts in descending order.");
  return sort as unknown as z.ZodDefault<z.ZodType<Sort, Sort>>;
};
