import { inspectRedis, type RedisFacts } from "../../queue/inspectRedis.ts";
import { type Finding, findingsAbout } from "./finding.ts";

const queue = findingsAbout("queue");

export async function checkQueue(redisUrl: string | null): Promise<Finding[]> {
  if (redisUrl === null) return [queue.ok("The queue runs on PostgreSQL; REDIS_URL is not set.")];
  try {
    return judgeRedis(await inspectRedis(redisUrl));
  } catch {
    return [queue.problem("Redis does not answer; check REDIS_URL, and that it runs.")];
  }
}

export function judgeRedis({ version, maxmemoryPolicy }: RedisFacts): Finding[] {
  const name = `Redis ${version ?? "of an unknown version"}`;
  if (maxmemoryPolicy === "noeviction") return [queue.ok(`${name} answers and evicts nothing.`)];
  return [
    queue.ok(`${name} answers.`),
    maxmemoryPolicy === null
      ? queue.warning("Redis does not tell its maxmemory-policy; see that it is noeviction.")
      : queue.warning(
          `Redis may evict what waits in the queue (maxmemory-policy ${maxmemoryPolicy}), and work is late then; set it to noeviction.`,
        ),
  ];
}
