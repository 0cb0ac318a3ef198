import { codeOf } from "../../core/db/outage.ts";
import type { Pool } from "../../core/db/pool.ts";
import { readSchemaState, type SchemaState } from "../../core/db/schemaState.ts";
import { readServer, type Server } from "../../core/store/server.ts";
import { type Finding, findingsAbout } from "./finding.ts";

const database = findingsAbout("database");
const durability = findingsAbout("durability");
const clock = findingsAbout("clock");

/** Stored times are the database's; beyond this, what logs and signatures of this machine say no longer fits them. */
const CLOCKS_APART_MS = 5_000;

export async function checkDatabase(pool: Pool): Promise<Finding[]> {
  try {
    const asked = Date.now();
    const server = await readServer(pool);
    // The middle of the round trip: half of it is all that is uncertain.
    const here = (asked + Date.now()) / 2;
    return [
      server.readOnly
        ? database.problem(`PostgreSQL ${server.version} takes no writes; name the primary in DATABASE_URL.`)
        : database.ok(`PostgreSQL ${server.version} answers and takes writes.`),
      judgeSchema(await readSchemaState(pool)),
      judgeDurability(server),
      judgeClock(server.now - here),
    ];
  } catch (error) {
    const code = codeOf(error);
    const why = code === "" ? "" : ` (${code})`;
    return [database.problem(`PostgreSQL does not answer${why}; check DATABASE_URL, and that it runs.`)];
  }
}

export function judgeSchema({ pending, newer }: SchemaState): Finding {
  const schema = findingsAbout("schema");
  if (newer.length > 0) {
    return schema.problem(
      `A newer version of Countersign has migrated this database (${newer.join(", ")}); run that version.`,
    );
  }
  if (pending.length > 0) return schema.warning(`Not migrated yet: ${pending.join(", ")}; the next start does it.`);
  return schema.ok("Every migration has run.");
}

/** What it takes to start a write at most once: that a start which was committed is never forgotten. */
export function judgeDurability(
  server: Pick<Server, "fsync" | "synchronousCommit" | "synchronousStandbys" | "standbys">,
): Finding {
  const { fsync, synchronousCommit, synchronousStandbys, standbys } = server;
  const twice = "an approved write could start twice";
  if (!fsync) return durability.warning(`fsync is off: after a crash of the server ${twice}; turn it on.`);
  if (synchronousCommit === "off")
    return durability.warning(`synchronous_commit is off: after a crash of the server ${twice}; set it to on.`);
  const waits = synchronousStandbys !== "" && synchronousCommit !== "local";
  if (standbys > 0 && !waits) {
    return durability.warning(
      `Commits do not wait for a standby: after a failover ${twice}; set synchronous_standby_names, and synchronous_commit to on.`,
    );
  }
  return durability.ok(
    waits ? "Commits wait for the disk and for a standby." : "Commits wait for the disk; no standby is connected.",
  );
}

/** `ahead`: by how much the database's clock is ahead of this machine's, in milliseconds. */
export function judgeClock(ahead: number): Finding {
  const seconds = `${(Math.abs(ahead) / 1000).toFixed(1)} s`;
  if (Math.abs(ahead) <= CLOCKS_APART_MS) return clock.ok(`This machine and the database are ${seconds} apart.`);
  const which = ahead > 0 ? "behind" : "ahead of";
  return clock.warning(
    `This machine's clock is ${seconds} ${which} the database's; let both keep time by NTP: chat platforms refuse and are refused by a wrong clock.`,
  );
}
