import { expect, test } from "vitest";
import { type BuildOptions, buildProject } from "../../../src/core/build/buildProject.ts";
import { oneAgent, writeProject } from "./writeProject.ts";

const module = (fields: string, top = "") =>
  `import { bearer, defineConnection, githubApp, secretHeader, useSecret } from "@opencomputer/agent";\n${top}\nexport const api = defineConnection({ ${fields} });\n`;
const build = async (fields: string, top?: string, options: Partial<BuildOptions> = {}) =>
  buildProject({ dir: await writeProject(oneAgent({ "connections/api.ts": module(fields, top) })), ...options });

const HTTPS = 'id: "api", origin: "https://api.example.com"';

test("C1 a connection is read with the names of its secrets, never a value", async () => {
  const { manifest } = await build(
    `${HTTPS}, methods: ["get", "POST"], pathPrefix: "/v1/", redirectOrigins: ["https://files.example.com", { origin: "https://cdn.example.com" }],
     headers: { Authorization: bearer(useSecret("API_KEY")), "x-api-key": secretHeader(key, { prefix: "k ", suffix: "!" }), Accept: "application/json" }`,
    'const key = useSecret("OTHER_KEY", { scope: "user" });',
  );
  expect(manifest.agents[0]?.connections).toEqual([
    {
      id: "api",
      origin: "https://api.example.com",
      methods: ["GET", "POST"],
      pathPrefix: "/v1/",
      headers: [
        { name: "Authorization", secret: "API_KEY", prefix: "Bearer ", suffix: "" },
        { name: "x-api-key", secret: "OTHER_KEY", scope: "user", prefix: "k ", suffix: "!" },
        { name: "Accept", literal: "application/json" },
      ],
      redirectOrigins: ["https://files.example.com", "https://cdn.example.com"],
    },
  ]);
  expect(manifest.agents[0]?.secrets).toEqual(["API_KEY", "OTHER_KEY"]);
});

test.each([
  ["http", 'id: "api", origin: "http://api.example.com"', 'origin "http://api.example.com" is not https'],
  ["no origin", 'id: "api"', "origin is not an origin"],
  ["a path in the origin", 'id: "api", origin: "https://api.example.com/v1"', "has a path"],
  ["a credential in the origin", 'id: "api", origin: "https://me:pw@api.example.com"', "origin holds a credential"],
  ["loopback outside development", 'id: "api", origin: "http://127.0.0.1:4010"', "is on this machine"],
  [
    "a literal authorization",
    `${HTTPS}, headers: { Authorization: "Bearer abc" }`,
    "the header Authorization is a credential in source",
  ],
  [
    "a literal x-api-key",
    `${HTTPS}, headers: { "X-Api-Key": "abc" }`,
    "the header X-Api-Key is a credential in source",
  ],
  [
    "a literal cookie behind a const",
    `${HTTPS}, headers: { cookie: value }`,
    "the header cookie is a credential in source",
  ],
  [
    "a computed header",
    `${HTTPS}, headers: { accept: process.env.ACCEPT }`,
    "the header accept is the member expression",
  ],
  ["an unknown method", `${HTTPS}, methods: ["FETCH"]`, "methods is not a list of HTTP methods"],
  ["a relative prefix", `${HTTPS}, pathPrefix: "v1"`, "pathPrefix is not an absolute path"],
  ["a computed origin", 'id: "api", origin: process.env.ORIGIN', "origin of a connection is the member expression"],
  [
    "a bad secret's name",
    `${HTTPS}, headers: { authorization: bearer(useSecret("api key")) }`,
    "useSecret is given no secret's name",
  ],
])("B5 %s fails the build", async (_title, fields, message) => {
  await expect(build(fields, 'const value = "a=b";')).rejects.toMatchObject({
    code: "project_invalid",
    message: expect.stringMatching(/^agents\/support\/connections\/api\.ts:3: /),
  });
  await expect(build(fields, 'const value = "a=b";')).rejects.toThrow(message);
});

test("B5 loopback origins are for development", async () => {
  for (const origin of ["http://127.0.0.1:4010", "http://localhost:4010", "http://[::1]:4010"]) {
    const { manifest } = await build(`id: "api", origin: "${origin}"`, "", { allowLoopback: true });
    expect(manifest.agents[0]?.connections[0]?.origin).toBe(origin);
  }
  await expect(build('id: "api", origin: "http://10.0.0.1"', "", { allowLoopback: true })).rejects.toThrow(
    "is not https",
  );
});

test("the origins of connections can be put elsewhere for tests and the demo", async () => {
  const plain = await build(HTTPS);
  const moved = await build(HTTPS, "", { overrideOrigins: { api: "http://127.0.0.1:5000" } });
  expect(moved.manifest.agents[0]?.connections[0]?.origin).toBe("http://127.0.0.1:5000");
  expect(moved.id).not.toBe(plain.id);
});

test("a connection with a managed provider builds with a warning", async () => {
  const { manifest } = await build('id: "github", provider: githubApp({ permissions: { contents: "write" } })');
  expect(manifest.agents[0]?.connections).toEqual([]);
  expect(manifest.warnings).toEqual([
    expect.stringMatching(/^agents\/support\/connections\/api\.ts:3: the connection "github" has a managed provider/),
  ]);
});
