import { readFile } from "node:fs/promises";
import { type Expression, type Node, type Program, parseSync } from "oxc-parser";
import type { Place, Problems } from "./problems.ts";

/** One parsed module of a project, with what the static readers look up in it. */
export interface SourceModule {
  readonly path: string;
  /** Relative to the project's folder, forward slashes; for messages and the manifest. */
  readonly file: string;
  readonly text: string;
  readonly program: Program;
  /** Value imports by local name; type-only ones are left out, they are gone when the module runs. */
  readonly imports: ReadonlyMap<string, ImportBinding>;
  /** Variables declared at the top level, by name. */
  readonly variables: ReadonlyMap<string, TopVariable>;
  /** Functions and classes declared at the top level. */
  readonly declarations: ReadonlySet<string>;
  /** Exported name → what it stands for here, `default` included. */
  readonly exports: ReadonlyMap<string, ExportBinding>;
  /** `export * from` is somewhere in it. */
  readonly reexportsAll: boolean;
  at(node: { readonly start: number }): Place;
}

export interface ImportBinding {
  readonly specifier: string;
  /** `*` for a namespace. */
  readonly imported: string;
  readonly start: number;
}

export interface TopVariable {
  readonly kind: string;
  /** Null when there is none, or when the name comes out of a pattern. */
  readonly init: Expression | null;
}

export type ExportBinding =
  | { readonly kind: "local"; readonly name: string }
  | { readonly kind: "expression"; readonly node: Node }
  | { readonly kind: "reexport"; readonly specifier: string };

/** Reads and parses a module. Adds a problem and returns null when it is not TypeScript. */
export async function readModule(path: string, file: string, problems: Problems): Promise<SourceModule | null> {
  const text = await readFile(path, "utf8");
  const { program, errors } = parseSync(path, text, { preserveParens: false });
  const at = (node: { readonly start: number }): Place => ({ file, line: lineOf(text, node.start) });
  const [error] = errors;
  if (error) {
    problems.add(
      at({ start: error.labels[0]?.start ?? 0 }),
      `it cannot be parsed (${error.message})`,
      "repair the syntax",
    );
    return null;
  }
  return { path, file, text, program, at, ...readTopLevel(program) };
}

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

type TopLevel = Pick<SourceModule, "imports" | "variables" | "declarations" | "exports" | "reexportsAll">;

function readTopLevel(program: Program): TopLevel {
  const top = {
    imports: new Map<string, ImportBinding>(),
    variables: new Map<string, TopVariable>(),
    declarations: new Set<string>(),
    exports: new Map<string, ExportBinding>(),
    reexportsAll: false,
  };
  const declare = (statement: Node | null, exported: boolean) => {
    for (const name of declaredBy(statement, top)) {
      if (exported) top.exports.set(name, { kind: "local", name });
    }
  };
  for (const statement of program.body) {
    switch (statement.type) {
      case "ImportDeclaration":
        if (statement.importKind !== "type") readImport(statement, top.imports);
        break;
      case "ExportNamedDeclaration":
        declare(statement.declaration, true);
        for (const { local, exported, exportKind } of statement.specifiers) {
          if (statement.exportKind === "type" || exportKind === "type") continue;
          top.exports.set(
            nameOf(exported),
            statement.source
              ? { kind: "reexport", specifier: statement.source.value }
              : { kind: "local", name: nameOf(local) },
          );
        }
        break;
      case "ExportDefaultDeclaration": {
        const node = statement.declaration;
        declare(node, false);
        top.exports.set(
          "default",
          node.type === "Identifier" ? { kind: "local", name: node.name } : { kind: "expression", node },
        );
        break;
      }
      case "ExportAllDeclaration":
        top.reexportsAll = true;
        break;
      default:
        declare(statement, false);
    }
  }
  return top;
}

function readImport(
  statement: Extract<Node, { type: "ImportDeclaration" }>,
  imports: Map<string, ImportBinding>,
): void {
  for (const part of statement.specifiers) {
    if (part.type === "ImportSpecifier" && part.importKind === "type") continue;
    const imported =
      part.type === "ImportSpecifier"
        ? nameOf(part.imported)
        : part.type === "ImportDefaultSpecifier"
          ? "default"
          : "*";
    imports.set(part.local.name, { specifier: statement.source.value, imported, start: part.start });
  }
}

function declaredBy(
  statement: Node | null,
  top: { readonly variables: Map<string, TopVariable>; readonly declarations: Set<string> },
): string[] {
  if (statement?.type === "VariableDeclaration") {
    return statement.declarations.flatMap(({ id, init }) => {
      const names = id.type === "Identifier" ? [id.name] : patternNames(id);
      for (const name of names) {
        top.variables.set(name, { kind: statement.kind, init: id.type === "Identifier" ? init : null });
      }
      return names;
    });
  }
  if ((statement?.type === "FunctionDeclaration" || statement?.type === "ClassDeclaration") && statement.id) {
    top.declarations.add(statement.id.name);
    return [statement.id.name];
  }
  return [];
}

function patternNames(pattern: Node): string[] {
  switch (pattern.type) {
    case "Identifier":
      return [pattern.name];
    case "ObjectPattern":
      return pattern.properties.flatMap((part) =>
        patternNames(part.type === "RestElement" ? part.argument : part.value),
      );
    case "ArrayPattern":
      return pattern.elements.flatMap((part) => (part ? patternNames(part) : []));
    case "AssignmentPattern":
      return patternNames(pattern.left);
    case "RestElement":
      return patternNames(pattern.argument);
    default:
      return [];
  }
}

const nameOf = (node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string =>
  node.name ?? String(node.value);
