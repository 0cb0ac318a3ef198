// The dependency rule of docs/architecture.md, as a machine checks it.
const only = (name, from, forbidden, comment) => ({
  name,
  severity: "error",
  comment,
  from: { path: from },
  to: { path: forbidden },
});

export default {
  forbidden: [
    {
      name: "no-circular",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    only("core-is-inside", "^src/core", "^src/(adapters|queue|gateway)", "core imports nothing of what surrounds it"),
    only(
      "domain-is-pure",
      "^src/core/domain",
      "^(src/core/(?!domain)|node_modules|node:)",
      "domain is pure: nothing but itself",
    ),
    only(
      "authoring-is-published",
      "^src/core/authoring",
      "^(src/(?!core/authoring)|node_modules)",
      "authoring runs inside other people's projects",
    ),
    only("store-is-sql", "^src/core/store", "^src/core/(?!store|domain|db)", "a store knows rows and domain types"),
    only("ports-name-domain", "^src/core/ports\\.ts$", "^src/core/(?!domain)", "ports speak domain types only"),
    only(
      "parts-of-core",
      "^src/core/(tools|model|build|egress|runtime|record)/",
      "^src/core/(flow|store|db)",
      "tools, model, build, egress, runtime and record are handed what they need",
    ),
    only(
      "queue-and-adapters",
      "^src/(queue|adapters)",
      "^src/core/(?!ports\\.ts|domain)",
      "queue and adapters import ports and domain only",
    ),
    only("adapters-stay-out-of-gateway", "^src/(queue|adapters)", "^src/gateway", "nobody imports the gateway"),
    only("slack-never-linear", "^src/adapters/slack", "^src/adapters/linear", "one platform per adapter"),
    only("linear-never-slack", "^src/adapters/linear", "^src/adapters/slack", "one platform per adapter"),
    only(
      "pg-in-db-and-store",
      "^src/(?!core/db|core/store)",
      "^node_modules/(@types/)?pg/",
      "only db and store talk to PostgreSQL",
    ),
    only("bullmq-in-queue", "^src/(?!queue)", "^node_modules/(bullmq|ioredis)/", "only src/queue builds queues"),
    only(
      "slack-in-its-adapter",
      "^src/(?!adapters/slack)",
      "^node_modules/@slack/",
      "Slack's packages stay in its adapter",
    ),
    only(
      "linear-in-its-adapter",
      "^src/(?!adapters/linear)",
      "^node_modules/@linear/",
      "Linear's SDK stays in its adapter",
    ),
    only("models-in-model", "^src/(?!core/model)", "^node_modules/(ai|@ai-sdk)/", "model packages stay in core/model"),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
    },
  },
};
