import { randomBytes } from "node:crypto";
import { createJobQueue } from "../../src/queue/jobQueue.ts";
import { jobQueueContract } from "../contract/jobQueue.ts";
import { jobQueueOutageContract } from "../contract/jobQueueOutage.ts";

const redisUrl = process.env.REDIS_URL ?? "";
/** Nobody listens there: on Redis the queue needs no database. */
const databaseUrl = "postgres://nobody@127.0.0.1:1/none";

const freshNamespace = () => `test-${randomBytes(6).toString("hex")}`;

jobQueueContract("Redis", async () => {
  const namespace = freshNamespace();
  return (log) => createJobQueue({ redisUrl, databaseUrl, log, namespace });
});

jobQueueOutageContract(
  "Redis",
  () => redisUrl,
  (url, log) => createJobQueue({ redisUrl: url, databaseUrl, log, namespace: freshNamespace() }),
);
