import { resolve } from "node:path";
import { CountersignError } from "./domain/errors.ts";
import { findProblems, several, VARIABLE_NAMES, type VariableName, type Variables } from "./variables.ts";

/** Everything the operator decides, checked and frozen. Variables are named as in the contract, section 10. */
export interface Config {
  /** `NODE_ENV=production`: keys must be given, and `http://` origins are refused. */
  readonly production: boolean;
  readonly role: "all" | "gateway" | "worker";
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Where the world reaches us, without a slash at the end; null: nobody said. */
  readonly publicUrl: string | null;
  /** Absolute. Keys, deployments, workspaces and the embedded database live here. */
  readonly dataDir: string;
  /** Null: an embedded PostgreSQL. */
  readonly databaseUrl: string | null;
  /** Null: the queue runs on PostgreSQL. */
  readonly redisUrl: string | null;
  /** 32 bytes in base64; null: made at the first start and kept in the data folder. */
  readonly masterKey: string | null;
  readonly masterKeyPrevious: readonly string[];
  /** Null: made like the master key. */
  readonly apiKey: string | null;
  /** `process`: agents run without namespaces of their own, and the operator knows. */
  readonly runtime: "auto" | "process";
  readonly computer: { readonly kind: string | null; readonly image: string | null };
  readonly webSearchUrl: string | null;
  readonly logLevel: string;
  /** Null: the simulator. */
  readonly slack: {
    readonly botToken: string;
    /** The current one first. */
    readonly signingSecrets: readonly string[];
    readonly appToken?: string;
    readonly clientId?: string;
    readonly clientSecret?: string;
    readonly apiUrl?: string;
  } | null;
  /** Null: the simulator. Either an access token, or a client's id and secret to get one with. */
  readonly linear: {
    readonly accessToken?: string;
    readonly clientId?: string;
    readonly clientSecret?: string;
    readonly webhookSecrets: readonly string[];
    readonly apiUrl?: string;
    readonly tokenUrl?: string;
  } | null;
  readonly github: { readonly appId: string; readonly privateKey: string; readonly apiUrl?: string } | null;
  /** The providers that have a key; none: the scripted demo model. */
  readonly models: { readonly [provider in "anthropic" | "openai" | "google"]?: ModelProvider };
}

interface ModelProvider {
  readonly apiKey: string;
  /** As the provider's AI SDK package reads it: Anthropic's ends in `/v1`. */
  readonly baseUrl?: string;
}

/** Command-line values that go before the environment's. */
export interface ConfigFlags {
  readonly role?: string;
  readonly port?: string;
  readonly adminPort?: string;
  readonly data?: string;
}

export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: ConfigFlags;
}

/**
 * Reads the configuration. Empty variables count as unset. Throws one `config_invalid` that names every problem, one
 * sentence a line; no value is ever repeated in it.
 */
export function loadConfig({ env, flags = {} }: ConfigSource): Config {
  const { variables, labels } = gather(env, flags);
  const problems = findProblems(variables, labels);
  if (problems.length > 0) throw new CountersignError("config_invalid", problems.join("\n"));
  return deepFreeze(toConfig(variables));
}

function gather(env: ConfigSource["env"], flags: ConfigFlags) {
  const overrides: readonly (readonly [VariableName, string | undefined, string])[] = [
    ["ROLE", flags.role, "--role"],
    ["DATA", flags.data, "--data"],
    ["PORT", flags.port, "--port"],
    ["ADMIN_PORT", flags.adminPort, "--admin-port"],
  ];
  const values: Record<string, string> = {};
  const labels: Record<string, string> = {};
  for (const name of VARIABLE_NAMES) {
    // A role and a data folder are told on the command line alone: other programs' ROLE and DATA are none of ours.
    if (env[name] && name !== "ROLE" && name !== "DATA") values[name] = env[name];
  }
  for (const [name, value, label] of overrides) {
    if (value === undefined) continue;
    values[name] = value;
    labels[name] = label;
  }
  return { variables: values as Variables, labels };
}

function toConfig(v: Variables): Config {
  return {
    production: v.NODE_ENV === "production",
    role: v.ROLE ?? "all",
    host: v.HOST ?? "127.0.0.1",
    port: Number(v.PORT ?? 3000),
    adminHost: v.ADMIN_HOST ?? "127.0.0.1",
    adminPort: Number(v.ADMIN_PORT ?? 3001),
    publicUrl: v.PUBLIC_URL?.replace(/\/+$/, "") ?? null,
    dataDir: resolve(v.DATA ?? ".countersign"),
    databaseUrl: v.DATABASE_URL ?? null,
    redisUrl: v.REDIS_URL ?? null,
    masterKey: v.COUNTERSIGN_MASTER_KEY ?? null,
    masterKeyPrevious: several(v.COUNTERSIGN_MASTER_KEY_PREVIOUS),
    apiKey: v.COUNTERSIGN_API_KEY ?? null,
    runtime: v.COUNTERSIGN_RUNTIME ?? "auto",
    computer: { kind: v.COUNTERSIGN_COMPUTER ?? null, image: v.COUNTERSIGN_COMPUTER_IMAGE ?? null },
    webSearchUrl: v.WEB_SEARCH_URL ?? null,
    logLevel: v.LOG_LEVEL ?? "info",
    slack: slackOf(v),
    linear: linearOf(v),
    github:
      v.GITHUB_APP_ID && v.GITHUB_APP_PRIVATE_KEY
        ? { appId: v.GITHUB_APP_ID, privateKey: v.GITHUB_APP_PRIVATE_KEY, ...given({ apiUrl: v.GITHUB_API_URL }) }
        : null,
    models: given({
      anthropic: provider(v.ANTHROPIC_API_KEY, v.ANTHROPIC_BASE_URL),
      openai: provider(v.OPENAI_API_KEY, v.OPENAI_BASE_URL),
      google: provider(v.GOOGLE_GENERATIVE_AI_API_KEY, v.GOOGLE_GENERATIVE_AI_BASE_URL),
    }),
  };
}

function slackOf(v: Variables): Config["slack"] {
  if (!v.SLACK_BOT_TOKEN || !v.SLACK_SIGNING_SECRET) return null;
  return {
    botToken: v.SLACK_BOT_TOKEN,
    signingSecrets: [v.SLACK_SIGNING_SECRET, ...several(v.SLACK_SIGNING_SECRET_PREVIOUS)],
    ...given({
      appToken: v.SLACK_APP_TOKEN,
      clientId: v.SLACK_CLIENT_ID,
      clientSecret: v.SLACK_CLIENT_SECRET,
      apiUrl: v.SLACK_API_URL,
    }),
  };
}

function linearOf(v: Variables): Config["linear"] {
  if (!v.LINEAR_WEBHOOK_SECRET) return null;
  return {
    webhookSecrets: [v.LINEAR_WEBHOOK_SECRET, ...several(v.LINEAR_WEBHOOK_SECRET_PREVIOUS)],
    ...given({
      accessToken: v.LINEAR_ACCESS_TOKEN,
      clientId: v.LINEAR_CLIENT_ID,
      clientSecret: v.LINEAR_CLIENT_SECRET,
      apiUrl: v.LINEAR_API_URL,
      tokenUrl: v.LINEAR_TOKEN_URL,
    }),
  };
}

const provider = (apiKey?: string, baseUrl?: string): ModelProvider | undefined =>
  apiKey ? { apiKey, ...given({ baseUrl }) } : undefined;

/** Without the keys that have no value. */
const given = <T extends object>(values: T): { [key in keyof T]?: Exclude<T[key], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [key in keyof T]?: Exclude<T[key], undefined>;
  };

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
