import { buildProject } from "../../core/build/buildProject.ts";

export interface BuildFlags {
  readonly project?: string;
  readonly out?: string;
}

/** `countersign build`: checks a project and prints its agents, tools and warnings. */
export async function build({ project = ".", out }: BuildFlags, environment: NodeJS.ProcessEnv): Promise<void> {
  const production = environment.NODE_ENV === "production";
  const { id, manifest } = await buildProject({
    dir: project,
    allowLoopback: !production,
    ...(out && { outDir: out }),
  });
  for (const agent of manifest.agents) {
    print(`agent ${agent.id}`);
    for (const tool of agent.tools) {
      print(
        `  tool ${tool.name}${tool.kind === "approval" ? ", waits for approval" : ""}${tool.result ? ", reports the result" : ""}`,
      );
    }
    for (const name of agent.builtins) print(`  built-in ${name}`);
    for (const connection of agent.connections) print(`  connection ${connection.id} to ${connection.origin}`);
    for (const secret of agent.secrets) print(`  secret ${secret}`);
  }
  for (const warning of manifest.warnings) print(`warning: ${warning}`);
  print(id);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
