import { z } from "zod";

/** One environment variable. The description of its schema is its sentence in docs/operations/configuration.md. */
export interface Setting<Value = unknown> {
  readonly variable: `PERCH_${string}`;
  readonly schema: z.ZodType<Value>;
}

export const setting = <Value>(variable: `PERCH_${string}`, schema: z.ZodType<Value>): Setting<Value> => ({
  variable,
  schema,
});

/** The settings of one concern, by their field of `Config`. */
export type SettingTable = Readonly<Record<string, Setting>>;

export type ValuesOf<Table extends SettingTable> = {
  readonly [Field in keyof Table]: Table[Field] extends Setting<infer Value> ? Readonly<Value> : never;
};

export const wholeNumber = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

export const commaList = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  );

const AddressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

export const AddressRanges = commaList.refine(
  (list) => list.every((item) => AddressRange.safeParse(item).success),
  "must be addresses or CIDR ranges, separated by commas",
);

export const parsedJson = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: "custom", message: "must be JSON" });
    return z.NEVER;
  }
});
