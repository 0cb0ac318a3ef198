import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Problems } from "./problems.ts";
import { readModule, type SourceModule } from "./sourceModule.ts";

/** The modules of one agent: those of its folder, and the project's own ones they import from outside it. */
export interface ModuleGraph {
  /** Sorted by file, so that nothing depends on the order a file system lists in. */
  readonly modules: readonly SourceModule[];
  /** What a relative import leads to; undefined for packages and for what does not exist. */
  resolve(from: SourceModule, specifier: string): SourceModule | undefined;
  /** The specifier leads outside the project or to a package. */
  isPackage(specifier: string): boolean;
}

const SOURCE = /\.(?:[mc]?[jt]s|[jt]sx)$/;
const NOT_A_MODULE = /\.(?:test|spec)\.(?:[mc]?[jt]s|[jt]sx)$|\.d\.[mc]?ts$/;

/** In the order a bundler tries them. A `.js` specifier of TypeScript code means the `.ts` file. */
const EXTENSIONS = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs"];

export async function readModuleGraph(project: string, folder: string, problems: Problems): Promise<ModuleGraph> {
  const byPath = new Map<string, SourceModule>();
  const waiting = await sourceFiles(folder);
  const seen = new Set(waiting);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const module = await readModule(path, fileName(project, path), problems);
    if (!module) continue;
    byPath.set(path, module);
    for (const specifier of importedBy(module)) {
      const target = resolveRelative(module.path, specifier);
      if (target === undefined || seen.has(target) || !target.startsWith(project + sep)) continue;
      seen.add(target);
      waiting.push(target);
    }
  }
  return {
    modules: [...byPath.values()].sort((a, b) => (a.file < b.file ? -1 : 1)),
    resolve: (from, specifier) => byPath.get(resolveRelative(from.path, specifier) ?? ""),
    isPackage: (specifier) => !isRelative(specifier),
  };
}

export const fileName = (project: string, path: string): string => relative(project, path).split(sep).join("/");

const isRelative = (specifier: string): boolean => /^\.{1,2}(?:\/|$)/.test(specifier);

function importedBy({ program }: SourceModule): string[] {
  return program.body.flatMap((statement) =>
    (statement.type === "ImportDeclaration" ||
      statement.type === "ExportNamedDeclaration" ||
      statement.type === "ExportAllDeclaration") &&
    statement.source
      ? [statement.source.value]
      : [],
  );
}

async function sourceFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && SOURCE.test(entry.name) && !NOT_A_MODULE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(folder, path).split(sep).includes("node_modules"))
    .sort();
}

function resolveRelative(from: string, specifier: string): string | undefined {
  if (!isRelative(specifier)) return undefined;
  const base = resolve(dirname(from), specifier);
  const withoutJs = base.replace(/\.([mc]?)js(x?)$/, ".$1ts$2");
  const candidates = [
    withoutJs,
    base,
    ...EXTENSIONS.map((extension) => base + extension),
    ...EXTENSIONS.map((extension) => join(base, `index${extension}`)),
  ];
  return candidates.find((path) => SOURCE.test(path) && existsSync(path) && statSync(path).isFile());
}
