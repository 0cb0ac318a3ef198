import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Ajv } from "ajv";

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
const text = optional(Type.String());
const oneOf = <const T extends string>(...values: readonly T[]) =>
  optional(Type.Unsafe<T>({ type: "string", enum: values, expects: `one of ${values.join(", ")}` }));
const formatted = (format: string, expects: string) => optional(Type.String({ format, expects }));

const port = formatted("port", "a whole number from 0 to 65535");
const httpUrl = formatted("http-url", "an address like https://example.com");
const keyBytes = "32 bytes in base64 (openssl rand -base64 32 makes them)";

const Variables = Type.Object({
  NODE_ENV: text,
  ROLE: oneOf("all", "gateway", "worker"),
  DATA: text,
  HOST: text,
  PORT: port,
  ADMIN_HOST: text,
  ADMIN_PORT: port,
  PUBLIC_URL: httpUrl,
  DATABASE_URL: formatted("postgres-url", "an address like postgres://user:password@host:5432/database"),
  REDIS_URL: formatted("redis-url", "an address like redis://host:6379"),
  COUNTERSIGN_MASTER_KEY: formatted("key", keyBytes),
  COUNTERSIGN_MASTER_KEY_PREVIOUS: formatted("keys", `${keyBytes}, or several with commas between`),
  COUNTERSIGN_API_KEY: text,
  COUNTERSIGN_RUNTIME: oneOf("auto", "process"),
  COUNTERSIGN_COMPUTER: text,
  COUNTERSIGN_COMPUTER_IMAGE: text,
  WEB_SEARCH_URL: httpUrl,
  LOG_LEVEL: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
  SLACK_BOT_TOKEN: text,
  SLACK_SIGNING_SECRET: text,
  SLACK_SIGNING_SECRET_PREVIOUS: text,
  SLACK_APP_TOKEN: text,
  SLACK_CLIENT_ID: text,
  SLACK_CLIENT_SECRET: text,
  SLACK_API_URL: httpUrl,
  LINEAR_CLIENT_ID: text,
  LINEAR_CLIENT_SECRET: text,
  LINEAR_ACCESS_TOKEN: text,
  LINEAR_WEBHOOK_SECRET: text,
  LINEAR_WEBHOOK_SECRET_PREVIOUS: text,
  LINEAR_API_URL: httpUrl,
  LINEAR_TOKEN_URL: httpUrl,
  GITHUB_APP_ID: text,
  GITHUB_APP_PRIVATE_KEY: text,
  GITHUB_API_URL: httpUrl,
  ANTHROPIC_API_KEY: text,
  ANTHROPIC_BASE_URL: httpUrl,
  OPENAI_API_KEY: text,
  OPENAI_BASE_URL: httpUrl,
  GOOGLE_GENERATIVE_AI_API_KEY: text,
  GOOGLE_GENERATIVE_AI_BASE_URL: httpUrl,
});

/** What was given, by name: the environment's variables, and ROLE and DATA from the command line. */
export type Variables = Static<typeof Variables>;
export type VariableName = keyof Variables;

export const VARIABLE_NAMES = Object.keys(Variables.properties) as readonly VariableName[];

/** Variables that only make sense together. A base URL alone is no half: it is an address, not a credential. */
const GROUPS: readonly { readonly any: readonly VariableName[]; readonly needs: readonly VariableName[] }[] = [
  {
    any: ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_SIGNING_SECRET_PREVIOUS", "SLACK_APP_TOKEN"],
    needs: ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"],
  },
  {
    any: ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"],
    needs: ["SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET", "SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"],
  },
  {
    any: ["LINEAR_ACCESS_TOKEN", "LINEAR_CLIENT_ID", "LINEAR_CLIENT_SECRET", "LINEAR_WEBHOOK_SECRET_PREVIOUS"],
    needs: ["LINEAR_WEBHOOK_SECRET"],
  },
  { any: ["LINEAR_CLIENT_ID", "LINEAR_CLIENT_SECRET"], needs: ["LINEAR_CLIENT_ID", "LINEAR_CLIENT_SECRET"] },
  { any: ["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY"], needs: ["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY"] },
];

/** One sentence each, which says what to do and repeats no value. `labels`: what to call a variable instead. */
export function findProblems(variables: Variables, labels: Readonly<Record<string, string>>): string[] {
  return [...badValues(variables, labels), ...halfGroups(variables), ...missing(variables)];
}

function badValues(variables: Variables, labels: Readonly<Record<string, string>>): string[] {
  const check = new Ajv({ allErrors: true, keywords: ["expects"], formats: FORMATS }).compile(Variables);
  if (check(variables)) return [];
  return (check.errors ?? []).map(({ instancePath }) => {
    const name = instancePath.slice(1) as VariableName;
    return `${labels[name] ?? name} must be ${Variables.properties[name].expects}.`;
  });
}

function halfGroups(variables: Variables): string[] {
  const problems = GROUPS.flatMap(({ any, needs }) => {
    const set = any.filter((name) => variables[name]);
    const absent = needs.filter((name) => !variables[name]);
    return set.length > 0 && absent.length > 0 ? [halfSentence(set, absent)] : [];
  });
  if (
    variables.LINEAR_WEBHOOK_SECRET &&
    !variables.LINEAR_ACCESS_TOKEN &&
    !variables.LINEAR_CLIENT_ID &&
    !variables.LINEAR_CLIENT_SECRET
  ) {
    problems.push(
      "LINEAR_WEBHOOK_SECRET is set without LINEAR_ACCESS_TOKEN, or LINEAR_CLIENT_ID and LINEAR_CLIENT_SECRET; set one of the two, or unset LINEAR_WEBHOOK_SECRET.",
    );
  }
  return problems;
}

function halfSentence(set: readonly VariableName[], absent: readonly VariableName[]): string {
  const be = set.length === 1 ? "is" : "are";
  const them = absent.length === 1 ? "it" : "them";
  return `${list(set)} ${be} set without ${list(absent)}; set ${them} too, or unset ${list(set)}.`;
}

function missing(variables: Variables): string[] {
  const problems: string[] = [];
  if (variables.NODE_ENV === "production") {
    const absent = (["COUNTERSIGN_MASTER_KEY", "COUNTERSIGN_API_KEY"] as const).filter((name) => !variables[name]);
    if (absent.length > 0) {
      problems.push(
        `NODE_ENV=production needs ${list(absent)}; make ${absent.length === 1 ? "it" : "each"} with openssl rand -base64 32.`,
      );
    }
  }
  if ((variables.ROLE === "gateway" || variables.ROLE === "worker") && !variables.DATABASE_URL) {
    problems.push(`--role ${variables.ROLE} needs DATABASE_URL; the processes of one installation share a PostgreSQL.`);
  }
  return problems;
}

const list = (names: readonly string[]): string => names.join(" and ");

/** The values of a variable that may hold several, with commas between. */
export const several = (value?: string): string[] => value?.split(",").flatMap((one) => one.trim() || []) ?? [];

const isUrl =
  (...schemes: readonly string[]) =>
  (value: string): boolean =>
    URL.canParse(value) && schemes.includes(new URL(value).protocol) && value.includes("://");

const isKey = (value: string): boolean =>
  /^[A-Za-z0-9+/]{43}=?$/.test(value) && Buffer.from(value, "base64").length === 32;

const FORMATS = {
  port: (value: string) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535,
  "http-url": isUrl("http:", "https:"),
  "postgres-url": isUrl("postgres:", "postgresql:"),
  "redis-url": isUrl("redis:", "rediss:"),
  key: isKey,
  keys: (value: string) => several(value).every(isKey),
};
