import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Message, type Plugin } from "esbuild";
import type { DeploymentFile } from "../domain/manifest.ts";
import { packageRoot } from "../packageRoot.ts";
import { AUTHORING_PACKAGES } from "./authoringCalls.ts";
import type { Problems } from "./problems.ts";

export interface BundleRequest {
  readonly project: string;
  /** Where the bundle goes in the deployment: `agents/support/agent.js`. */
  readonly outfile: string;
  /** The agent's own module, relative to the project. */
  readonly agent: string;
  /** The modules that declare tools and connections, relative to the project. */
  readonly modules: readonly string[];
}

/**
 * Packages written for CommonJS call `require` for Node's own modules, and an ES module has none. On the global
 * object, because a `const` here would clash with a module that makes its own with `createRequire`.
 */
const BANNER =
  'import { createRequire as __createRequire } from "node:module"; globalThis.require ??= __createRequire(import.meta.url);';

/**
 * Bundles one agent with everything it imports into one ES module that exports `default`, the agent function, and
 * `modules`, the namespaces of the modules that declare something: the runtime finds in them a tool that no render
 * selects any more. Nothing of this machine gets into the text, so that its digest is the same everywhere.
 */
export async function bundleAgent(request: BundleRequest, problems: Problems): Promise<DeploymentFile[]> {
  const { project, outfile } = request;
  try {
    const { outputFiles } = await build({
      stdin: { contents: entry(request), resolveDir: project, sourcefile: "entry.js", loader: "js" },
      absWorkingDir: project,
      outfile,
      bundle: true,
      write: false,
      format: "esm",
      platform: "node",
      target: "node20",
      charset: "utf8",
      legalComments: "none",
      // Kept without the sources: a stack in the log then names the author's file and line.
      sourcemap: "linked",
      sourcesContent: false,
      banner: { js: BANNER },
      logLevel: "silent",
      plugins: [authoring()],
    });
    const name = (path: string) => (path.endsWith(".map") ? `${outfile}.map` : outfile);
    return outputFiles.map(({ path, contents }) => ({ path: name(path), content: contents }));
  } catch (error) {
    const errors = (error as { errors?: readonly Message[] }).errors;
    if (!errors?.length) throw error;
    for (const { location, text } of errors) {
      const file = location?.file ?? request.agent;
      problems.add(
        { file, ...(location ? { line: location.line } : {}) },
        `it cannot be bundled (${text})`,
        "correct the import, or install the package",
      );
    }
    return [];
  }
}

function entry({ agent, modules }: BundleRequest): string {
  const from = (file: string) => JSON.stringify(`./${file}`);
  return [
    `export { default } from ${from(agent)};`,
    ...modules.map((file, index) => `import * as m${index} from ${from(file)};`),
    `export const modules = [${modules.map((_, index) => `m${index}`).join(", ")}];`,
  ].join("\n");
}

/**
 * Resolves the authoring API to this package's own source, in a namespace of its own so that the path of this
 * installation does not appear in the bundle.
 */
function authoring(): Plugin {
  const folder = join(packageRoot(), "src/core/authoring");
  const namespace = "countersign-agent";
  const names = new RegExp(`^(?:${AUTHORING_PACKAGES.join("|")})$`);
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter: names }, () => ({ path: "index.ts", namespace, sideEffects: false }));
      build.onResolve({ filter: /^\.\//, namespace }, ({ path }) => ({
        path: path.slice(2),
        namespace,
        sideEffects: false,
      }));
      build.onLoad({ filter: /./, namespace }, async ({ path }) => ({
        contents: await readFile(join(folder, path), "utf8"),
        loader: "ts",
      }));
    },
  };
}
