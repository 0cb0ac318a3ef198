import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type ConfigFlags, loadConfig } from "../../src/core/config.ts";
import { isCode } from "../../src/core/domain/errors.ts";

type Env = Record<string, string | undefined>;

const KEY = Buffer.alloc(32, 7).toString("base64");
const OLD_KEY = Buffer.alloc(32, 8).toString("base64");

function refusal(env: Env, flags: ConfigFlags = {}): string[] {
  try {
    loadConfig({ env, flags });
  } catch (error) {
    if (isCode(error, "config_invalid")) return error.message.split("\n");
    throw error;
  }
  return [];
}

describe("loadConfig", () => {
  it("needs nothing: embedded database, queue on it, simulators, the demo model", () => {
    expect(loadConfig({ env: {} })).toEqual({
      production: false,
      role: "all",
      host: "127.0.0.1",
      port: 3000,
      adminHost: "127.0.0.1",
      adminPort: 3001,
      publicUrl: null,
      dataDir: resolve(".countersign"),
      databaseUrl: null,
      redisUrl: null,
      masterKey: null,
      masterKeyPrevious: [],
      apiKey: null,
      runtime: "auto",
      computer: { kind: null, image: null },
      webSearchUrl: null,
      logLevel: "info",
      slack: null,
      linear: null,
      github: null,
      models: {},
    });
  });

  it("reads every variable of the contract", () => {
    const env = {
      NODE_ENV: "production",
      PORT: "0",
      HOST: "0.0.0.0",
      PUBLIC_URL: "https://agents.example.com/",
      ADMIN_PORT: "9001",
      ADMIN_HOST: "0.0.0.0",
      DATABASE_URL: "postgresql://u:p@db/countersign",
      REDIS_URL: "rediss://:p@redis:6380/1",
      COUNTERSIGN_MASTER_KEY: KEY,
      COUNTERSIGN_MASTER_KEY_PREVIOUS: `${OLD_KEY}, ${KEY}`,
      COUNTERSIGN_API_KEY: "key",
      COUNTERSIGN_RUNTIME: "process",
      COUNTERSIGN_COMPUTER: "bubblewrap",
      COUNTERSIGN_COMPUTER_IMAGE: "/images/base",
      WEB_SEARCH_URL: "http://search:8080",
      LOG_LEVEL: "debug",
      SLACK_BOT_TOKEN: "xoxb-1",
      SLACK_SIGNING_SECRET: "new",
      SLACK_SIGNING_SECRET_PREVIOUS: "old",
      SLACK_APP_TOKEN: "xapp-1",
      SLACK_CLIENT_ID: "1.2",
      SLACK_CLIENT_SECRET: "cs",
      SLACK_API_URL: "https://slack.example.com/api/",
      LINEAR_CLIENT_ID: "lid",
      LINEAR_CLIENT_SECRET: "lcs",
      LINEAR_ACCESS_TOKEN: "lat",
      LINEAR_WEBHOOK_SECRET: "lw",
      LINEAR_WEBHOOK_SECRET_PREVIOUS: "lwp",
      LINEAR_API_URL: "https://linear.example.com/graphql",
      LINEAR_TOKEN_URL: "https://linear.example.com/token",
      GITHUB_APP_ID: "12",
      GITHUB_APP_PRIVATE_KEY: "pem",
      GITHUB_API_URL: "https://github.example.com/api/v3",
      ANTHROPIC_API_KEY: "a",
      ANTHROPIC_BASE_URL: "http://models:1/v1",
      OPENAI_API_KEY: "o",
      OPENAI_BASE_URL: "http://models:2/v1",
      GOOGLE_GENERATIVE_AI_API_KEY: "g",
      GOOGLE_GENERATIVE_AI_BASE_URL: "http://models:3/v1beta",
    };
    expect(loadConfig({ env, flags: { role: "worker", data: "/var/lib/countersign" } })).toEqual({
      production: true,
      role: "worker",
      host: "0.0.0.0",
      port: 0,
      adminHost: "0.0.0.0",
      adminPort: 9001,
      publicUrl: "https://agents.example.com",
      dataDir: "/var/lib/countersign",
      databaseUrl: env.DATABASE_URL,
      redisUrl: env.REDIS_URL,
      masterKey: KEY,
      masterKeyPrevious: [OLD_KEY, KEY],
      apiKey: "key",
      runtime: "process",
      computer: { kind: "bubblewrap", image: "/images/base" },
      webSearchUrl: env.WEB_SEARCH_URL,
      logLevel: "debug",
      slack: {
        botToken: "xoxb-1",
        signingSecrets: ["new", "old"],
        appToken: "xapp-1",
        clientId: "1.2",
        clientSecret: "cs",
        apiUrl: env.SLACK_API_URL,
      },
      linear: {
        accessToken: "lat",
        clientId: "lid",
        clientSecret: "lcs",
        webhookSecrets: ["lw", "lwp"],
        apiUrl: env.LINEAR_API_URL,
        tokenUrl: env.LINEAR_TOKEN_URL,
      },
      github: { appId: "12", privateKey: "pem", apiUrl: env.GITHUB_API_URL },
      models: {
        anthropic: { apiKey: "a", baseUrl: env.ANTHROPIC_BASE_URL },
        openai: { apiKey: "o", baseUrl: env.OPENAI_BASE_URL },
        google: { apiKey: "g", baseUrl: env.GOOGLE_GENERATIVE_AI_BASE_URL },
      },
    });
  });

  it("lets flags go before the environment, and other programs' ROLE and DATA alone", () => {
    const env = { PORT: "4000", ADMIN_PORT: "4001", ROLE: "primary", DATA: "/elsewhere" };
    const config = loadConfig({ env, flags: { port: "5000" } });
    expect(config).toMatchObject({ port: 5000, adminPort: 4001, role: "all", dataDir: resolve(".countersign") });
  });

  it("counts an empty variable as unset", () => {
    const env = { PORT: "", SLACK_BOT_TOKEN: "", SLACK_SIGNING_SECRET: "", DATABASE_URL: "", ANTHROPIC_API_KEY: "" };
    expect(loadConfig({ env })).toEqual(loadConfig({ env: {} }));
  });

  it("takes an address without its credentials as no half: nothing is asked of it", () => {
    const env = {
      ANTHROPIC_BASE_URL: "https://models.example.com/v1",
      SLACK_API_URL: "https://slack.example.com/api/",
    };
    expect(loadConfig({ env })).toEqual(loadConfig({ env: {} }));
  });

  it("cannot be changed", () => {
    const config = loadConfig({ env: { SLACK_BOT_TOKEN: "t", SLACK_SIGNING_SECRET: "s" } });
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
    expect(() => Object.assign(config.slack ?? {}, { botToken: "u" })).toThrow(TypeError);
  });

  const PORT_SENTENCE = "PORT must be a whole number from 0 to 65535.";
  const bad: readonly [title: string, env: Env, flags: ConfigFlags, sentences: readonly string[]][] = [
    ["a port that is a word", { PORT: "http" }, {}, [PORT_SENTENCE]],
    ["a port out of range", { PORT: "65536" }, {}, [PORT_SENTENCE]],
    ["a negative port", { PORT: "-1" }, {}, [PORT_SENTENCE]],
    ["a port with a fraction", { PORT: "3000.5" }, {}, [PORT_SENTENCE]],
    ["a bad flag, by the flag's name", {}, { port: "x" }, ["--port must be a whole number from 0 to 65535."]],
    ["an empty flag", {}, { port: "" }, ["--port must be a whole number from 0 to 65535."]],
    ["an unknown role", {}, { role: "boss" }, ["--role must be one of all, gateway, worker."]],
    [
      "a role that shares no database",
      {},
      { role: "worker" },
      ["--role worker needs DATABASE_URL; the processes of one installation share a PostgreSQL."],
    ],
    [
      "an unknown log level",
      { LOG_LEVEL: "loud" },
      {},
      ["LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent."],
    ],
    [
      "a database of another kind",
      { DATABASE_URL: "mysql://localhost/db" },
      {},
      ["DATABASE_URL must be an address like postgres://user:password@host:5432/database."],
    ],
    [
      "a database that is a host name",
      { DATABASE_URL: "localhost" },
      {},
      ["DATABASE_URL must be an address like postgres://user:password@host:5432/database."],
    ],
    [
      "a Redis without a scheme",
      { REDIS_URL: "redis:6379" },
      {},
      ["REDIS_URL must be an address like redis://host:6379."],
    ],
    [
      "a public address without a scheme",
      { PUBLIC_URL: "agents.example.com" },
      {},
      ["PUBLIC_URL must be an address like https://example.com."],
    ],
    [
      "a master key that is too short",
      { COUNTERSIGN_MASTER_KEY: "c2hvcnQ=" },
      {},
      ["COUNTERSIGN_MASTER_KEY must be 32 bytes in base64 (openssl rand -base64 32 makes them)."],
    ],
    [
      "an earlier master key that is none",
      { COUNTERSIGN_MASTER_KEY_PREVIOUS: `${KEY},x` },
      {},
      [
        "COUNTERSIGN_MASTER_KEY_PREVIOUS must be 32 bytes in base64 (openssl rand -base64 32 makes them), or several with commas between.",
      ],
    ],
    ["an unknown runtime", { COUNTERSIGN_RUNTIME: "vm" }, {}, ["COUNTERSIGN_RUNTIME must be one of auto, process."]],
    [
      "a Slack token without its signing secret",
      { SLACK_BOT_TOKEN: "t" },
      {},
      ["SLACK_BOT_TOKEN is set without SLACK_SIGNING_SECRET; set it too, or unset SLACK_BOT_TOKEN."],
    ],
    [
      "a Slack signing secret without its token",
      { SLACK_SIGNING_SECRET: "s" },
      {},
      ["SLACK_SIGNING_SECRET is set without SLACK_BOT_TOKEN; set it too, or unset SLACK_SIGNING_SECRET."],
    ],
    [
      "a Slack app token alone",
      { SLACK_APP_TOKEN: "t" },
      {},
      [
        "SLACK_APP_TOKEN is set without SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET; set them too, or unset SLACK_APP_TOKEN.",
      ],
    ],
    [
      "half a Slack client",
      { SLACK_BOT_TOKEN: "t", SLACK_SIGNING_SECRET: "s", SLACK_CLIENT_ID: "1" },
      {},
      ["SLACK_CLIENT_ID is set without SLACK_CLIENT_SECRET; set it too, or unset SLACK_CLIENT_ID."],
    ],
    [
      "a Linear token without its webhook secret",
      { LINEAR_ACCESS_TOKEN: "t" },
      {},
      ["LINEAR_ACCESS_TOKEN is set without LINEAR_WEBHOOK_SECRET; set it too, or unset LINEAR_ACCESS_TOKEN."],
    ],
    [
      "half a Linear client",
      { LINEAR_CLIENT_SECRET: "c", LINEAR_WEBHOOK_SECRET: "w" },
      {},
      ["LINEAR_CLIENT_SECRET is set without LINEAR_CLIENT_ID; set it too, or unset LINEAR_CLIENT_SECRET."],
    ],
    [
      "a Linear webhook secret alone",
      { LINEAR_WEBHOOK_SECRET: "w" },
      {},
      [
        "LINEAR_WEBHOOK_SECRET is set without LINEAR_ACCESS_TOKEN, or LINEAR_CLIENT_ID and LINEAR_CLIENT_SECRET; set one of the two, or unset LINEAR_WEBHOOK_SECRET.",
      ],
    ],
    [
      "a GitHub app without its key",
      { GITHUB_APP_ID: "1" },
      {},
      ["GITHUB_APP_ID is set without GITHUB_APP_PRIVATE_KEY; set it too, or unset GITHUB_APP_ID."],
    ],
    [
      "a GitHub key without its app",
      { GITHUB_APP_PRIVATE_KEY: "k" },
      {},
      ["GITHUB_APP_PRIVATE_KEY is set without GITHUB_APP_ID; set it too, or unset GITHUB_APP_PRIVATE_KEY."],
    ],
    [
      "production without keys",
      { NODE_ENV: "production" },
      {},
      [
        "NODE_ENV=production needs COUNTERSIGN_MASTER_KEY and COUNTERSIGN_API_KEY; make each with openssl rand -base64 32.",
      ],
    ],
    [
      "production without an API key",
      { NODE_ENV: "production", COUNTERSIGN_MASTER_KEY: KEY },
      {},
      ["NODE_ENV=production needs COUNTERSIGN_API_KEY; make it with openssl rand -base64 32."],
    ],
    [
      "several problems, all at once",
      { PORT: "x", SLACK_BOT_TOKEN: "t", GITHUB_APP_ID: "1" },
      {},
      [
        PORT_SENTENCE,
        "SLACK_BOT_TOKEN is set without SLACK_SIGNING_SECRET; set it too, or unset SLACK_BOT_TOKEN.",
        "GITHUB_APP_ID is set without GITHUB_APP_PRIVATE_KEY; set it too, or unset GITHUB_APP_ID.",
      ],
    ],
  ];

  it.each(bad)("refuses %s", (_title, env, flags, sentences) => {
    expect(refusal(env, flags)).toEqual(sentences);
  });

  it("repeats no value it refuses", () => {
    const env = { DATABASE_URL: "pg:hunter2", COUNTERSIGN_MASTER_KEY: "hunter2", SLACK_BOT_TOKEN: "hunter2" };
    expect(refusal(env)).toHaveLength(3);
    expect(refusal(env).join()).not.toContain("hunter2");
  });
});
