import { z } from "zod";

/** One environment variable. The description of its schema is its sentence in docs/operations/configuration.md. */
export interface Setting<Value = unknown> {
  readonly variable: `PERCH_${string}`;
  readonly schema: z.ZodType<Value>;
  /** Its value may come from a file instead, which the variable with `_FILE` at its end names. */
  readonly isSecret: boolean;
}

export const setting = <Value>(variable: `PERCH_${string}`, schema: z.ZodType<Value>): Setting<Value> => ({
  variable,
  schema,
  isSecret: false,
});

export const secretSetting = <Value>(variable: `PERCH_${string}`, schema: z.ZodType<Value>): Setting<Value> => ({
  ...setting(variable, schema),
  isSecret: true,
});

/** The settings of one concern, by their field of `Config`. */
export type SettingTable = Readonly<Record<string, Setting>>;

export type ValuesOf<Table extends SettingTable> = {
  readonly [Field in keyof Table]: Table[Field] extends Setting<infer Value> ? Readonly<Value> : never;
};

const numberError = (min: number, max: number) => (issue: { readonly input?: unknown }) =>
  typeof issue.input === "string" && issue.input.includes("://")
    ? `must be a whole number from ${min} to ${max}. Kubernetes sets it to an address for a service of that name: set enableServiceLinks to false.`
    : `must be a whole number from ${min} to ${max}`;

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .trim()
    .refine((text) => /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: numberError(min, max),
    })
    .transform(Number);

export const onOrOff = z.stringbool({ error: "must be true or false" });

/** `host:port` is an address too, with `host` as its scheme, so the scheme is checked. */
const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Addresses are logged, and `fetch` refuses those that contain a password. */
const hasNoPassword = (text: string): boolean => {
  const url = URL.parse(text);
  return !url?.username && !url?.password;
};
const passwordError = "must not hold a user or a password";

/** An address of HTTP; the example is shown when it is not one. */
export const httpUrl = (example: string) =>
  z.string().refine(isHttpUrl, `must be an address such as ${example}`).refine(hasNoPassword, passwordError);

export const httpUrls = (example: string) =>
  z
    .string()
    .transform((text) => text.split(",").map((item) => item.trim().replace(/\/$/, "")))
    .refine((list) => list.every(isHttpUrl), `must be addresses such as ${example}, separated by commas`)
    .refine((list) => list.every(hasNoPassword), passwordError);

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
