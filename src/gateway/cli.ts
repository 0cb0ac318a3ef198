#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { CountersignError } from "../core/domain/errors.ts";
import { packageRoot } from "../core/packageRoot.ts";
import { printAuditKey, verifyExport, writeExport } from "./commands/audit.ts";
import { build } from "./commands/build.ts";
import { demo } from "./commands/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { listSecretNames, removeSecret, setSecret } from "./commands/secrets.ts";
import { printSlackManifest } from "./commands/slackManifest.ts";
import { start } from "./commands/start.ts";

const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string };
const program = new Command("countersign")
  .description(
    "Puts TypeScript agents into Slack threads and Linear issues; a write runs only after somebody approved it.",
  )
  .version(version);
const data = ["--data <dir>", "where state is kept (default ./.countersign)"] as const;

program
  .command("start")
  .description("serve a project until told to stop")
  .option("--project <dir>", "a folder with project.ts or opencomputer/ (default: here, else the example)")
  .option("--role <role>", "all, gateway or worker (default all)")
  .option("--port <n>", "public port (default 3000, 0 for a free one)")
  .option("--admin-port <n>", "admin port (default 3001, 0 for a free one)")
  .option(...data)
  .action((flags) => start(flags, process.env));
program
  .command("build")
  .description("build a project and say what is in it, running none of its code")
  .option("--project <dir>", "a folder with project.ts or opencomputer/ (default: here)")
  .option("--out <dir>", "also write the deployment there")
  .action((flags) => build(flags, process.env));
program
  .command("demo")
  .description("the whole story against simulators, from a mention to a write that ran once")
  .action(() => demo());
program
  .command("doctor")
  .description("look at everything a gateway stands on, and say what to do about it; starts and changes nothing")
  .option("--project <dir>", "whose .env.local counts (default: here, if there is one)")
  .option(...data)
  .action((flags) => doctor(flags, process.env));

const secrets = program.command("secrets").description("values that connections send and agents never see");
secrets
  .command("set <name>")
  .description("reads the value from standard input")
  .option("--scope <scope>")
  .option(...data)
  .action((name, flags) => setSecret(name, flags, process.env));
secrets
  .command("list")
  .option(...data)
  .action((flags) => listSecretNames(flags, process.env));
secrets
  .command("remove <name>")
  .option("--scope <scope>")
  .option(...data)
  .action((name, flags) => removeSecret(name, flags, process.env));

const audit = program.command("audit").description("proof of what was proposed, who decided, and what became of it");
audit
  .command("key")
  .description("print the public key that exports are verified with; keep it where the gateway cannot write")
  .option(...data)
  .action((flags) => printAuditKey(flags, process.env));
audit
  .command("export <file>")
  .description("write the decision record there, one JSON line an entry")
  .option(...data)
  .action((file, flags) => writeExport(file, flags, process.env));
audit
  .command("verify <file>")
  .description("check an export; needs no database, only the public key")
  .requiredOption("--key <key...>", "public keys that may have signed it")
  .option("--witness <hash...>", "hashes that have to be in it, as cards show them")
  .action((file, flags) => verifyExport(file, flags));

program
  .command("slack")
  .description("what connecting a Slack workspace needs")
  .command("manifest")
  .description("print the app's manifest, to be pasted where Slack creates an app")
  .option("--url <url>", "https:// address at which Slack reaches this gateway (default PUBLIC_URL)")
  .action((flags) => printSlackManifest(flags, process.env));

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CountersignError)) throw error;
  process.stderr.write(`countersign: ${error.message} (${error.code})\n`);
  process.exitCode = 1;
}
