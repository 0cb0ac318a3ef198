import { type CallExpression, type Node, Visitor } from "oxc-parser";
import { UNSUPPORTED } from "../authoring/unsupported.ts";
import type { Problems } from "./problems.ts";
import type { SourceModule } from "./sourceModule.ts";

/** The two names of the authoring API (contract, section 1). */
export const AUTHORING_PACKAGES = ["@opencomputer/agent", "countersign/agent"] as const;

export interface AuthoringCall {
  /** What is called, by its exported name. */
  readonly name: string;
  readonly node: CallExpression;
  readonly module: SourceModule;
}

const isAuthoring = (specifier: string): boolean => (AUTHORING_PACKAGES as readonly string[]).includes(specifier);

/** The exported name of the authoring API that an expression stands for, through aliases and namespace imports. */
export function authoringName(node: Node, module: SourceModule): string | null {
  if (node.type === "Identifier") {
    const imported = module.imports.get(node.name);
    return imported && isAuthoring(imported.specifier) && imported.imported !== "*" ? imported.imported : null;
  }
  if (node.type === "MemberExpression" && node.object.type === "Identifier" && node.property.type === "Identifier") {
    const namespace = module.imports.get(node.object.name);
    return namespace?.imported === "*" && isAuthoring(namespace.specifier) && !node.computed
      ? node.property.name
      : null;
  }
  return null;
}

/** Every call of the authoring API in a module, in the order they are written. */
export function authoringCalls(module: SourceModule): AuthoringCall[] {
  const calls: AuthoringCall[] = [];
  new Visitor({
    CallExpression(node) {
      const name = authoringName(node.callee, module);
      if (name !== null) calls.push({ name, node, module });
    },
  }).visit(module.program);
  return calls.sort((a, b) => a.node.start - b.node.start);
}

/** Refuses, by name, what exists only so that it can be refused. */
export function refuseUnsupported(module: SourceModule, calls: readonly AuthoringCall[], problems: Problems): void {
  const used = [
    ...[...module.imports.values()].filter(({ specifier }) => isAuthoring(specifier)),
    ...calls.map(({ name, node }) => ({ imported: name, start: node.start })),
  ];
  const refused = new Set<string>();
  for (const { imported, start } of used) {
    if (!(UNSUPPORTED as readonly string[]).includes(imported) || refused.has(imported)) continue;
    refused.add(imported);
    problems.add(module.at({ start }), `${imported} is not supported by this version of Countersign`, "remove it");
  }
}
