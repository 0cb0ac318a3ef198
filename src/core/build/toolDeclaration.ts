import type { Expression, Node } from "oxc-parser";
import {
  descriptionProblem,
  type Entries,
  entriesProblem,
  nameProblem,
  resultProblem,
  type ShapeProblem,
} from "../authoring/toolShape.ts";
import { digest } from "../digest.ts";
import type { Json } from "../domain/json.ts";
import type { ToolManifest } from "../domain/manifest.ts";
import type { AuthoringCall } from "./authoringCalls.ts";
import { canonicalJson } from "./deploymentId.ts";
import { schemaError } from "./jsonSchema.ts";
import { type Place, type Problems, place } from "./problems.ts";
import type { SourceModule } from "./sourceModule.ts";
import { type FollowImport, formOf, propertyKey, readStatic, snippet, unwrap } from "./staticValue.ts";

export interface DeclaredTool {
  readonly manifest: ToolManifest;
  readonly place: Place;
  readonly module: SourceModule;
  readonly node: Node;
}

/** How imports are followed: a result's `output` stays inside the agent's folder (B2), the rest inside the project. */
export interface Reach {
  readonly inAgent: FollowImport;
  readonly inProject: FollowImport;
}

/**
 * Reads one `defineTool()` call from its source (B1-B3). Everything wrong with it becomes a problem; null when too
 * little is known to name it.
 */
export function readTool({ node, module }: AuthoringCall, reach: Reach, problems: Problems): DeclaredTool | null {
  const where = module.at(node);
  const refuse = (problem: ShapeProblem | null, at: Place = where): void => {
    if (problem) problems.add(at, problem.what, problem.instead);
  };
  const fields = readFields(node.arguments[0], module, where, problems);
  if (!fields) return null;

  const name = readName(fields, module, reach, problems, where);
  if (name === null) return null;
  refuse(nameProblem(name));
  const text = (field: string): Json | undefined => {
    const value = fields.get(field);
    if (!value) return undefined;
    const read = readStatic(value, module, reach.inProject);
    return read.ok ? read.value : undefined;
  };
  const description = text("description");
  if (!fields.has("description") || description !== undefined) refuse(descriptionProblem(description));

  const entries: Entries = {
    run: fields.has("run"),
    preview: fields.has("preview"),
    apply: fields.has("apply"),
    verify: fields.has("verify"),
  };
  refuse(entriesProblem(entries));
  const result = readResult(fields, module, problems);
  refuse(resultProblem(result, fields.has("output"), entries));
  const output = result ? readOutput(fields, module, reach, problems) : text("output");
  const input = text("input");
  for (const [field, schema] of [
    ["input", input],
    ["output", output],
  ] as const) {
    const wrong = schema === undefined ? null : schemaError(schema);
    if (wrong) problems.add(where, `${field} of ${name} is not a JSON Schema (${wrong})`, "correct the schema");
  }

  const kind = entries.run ? ("run" as const) : ("approval" as const);
  const declaration = { name, kind, result, description, input, output };
  return {
    place: where,
    module,
    node,
    manifest: {
      name,
      kind,
      result,
      ...(output === undefined ? {} : { output }),
      digest: digest(canonicalJson({ ...declaration, module: module.text })),
      declaredAt: place(where),
      verifies: entries.verify,
    },
  };
}

type Fields = ReadonlyMap<string, Expression>;

/** The properties of the object in the call, by name; a method stands for its function. */
function readFields(argument: Node | undefined, module: SourceModule, where: Place, problems: Problems): Fields | null {
  const object = argument && argument.type !== "SpreadElement" ? unwrap(argument as Expression) : null;
  if (object?.type !== "ObjectExpression") {
    const form = argument ? snippet(argument, module) : "nothing";
    problems.add(
      where,
      `defineTool is given ${form}, not an object literal`,
      "write defineTool({ name: …, … }) in place",
    );
    return null;
  }
  const fields = new Map<string, Expression>();
  for (const property of object.properties) {
    const at = module.at(property);
    if (property.type === "SpreadElement") {
      problems.add(at, `a spread ${snippet(property, module)} in defineTool()`, "write its properties out");
      continue;
    }
    const key = propertyKey(property);
    if (key === null) {
      problems.add(
        at,
        `a computed property name ${snippet(property.key, module)} in defineTool()`,
        "write the name itself",
      );
    } else if (property.kind !== "init") {
      problems.add(at, `the accessor ${key} in defineTool()`, "write it as an ordinary property");
    } else {
      fields.set(key, property.value);
    }
  }
  return fields;
}

function readName(fields: Fields, module: SourceModule, reach: Reach, problems: Problems, where: Place): string | null {
  const value = fields.get("name");
  if (!value) {
    const problem = nameProblem(undefined);
    if (problem) problems.add(where, problem.what, problem.instead);
    return null;
  }
  const name = readStatic(value, module, reach.inProject);
  if (name.ok && typeof name.value === "string") return name.value;
  const form = name.ok ? JSON.stringify(name.value) : name.form;
  problems.add(module.at(value), `name is ${form}`, 'write it as text, as in name: "lookup_order"');
  return null;
}

/** Only the literals count (B1): whatever needs evaluating could differ when the module runs. */
function readResult(fields: Fields, module: SourceModule, problems: Problems): boolean {
  const value = fields.get("result");
  if (!value) return false;
  const node = unwrap(value);
  if (node.type === "Literal" && typeof node.value === "boolean") return node.value;
  const form =
    node.type === "Identifier"
      ? `the name ${node.name}`
      : node.type === "Literal"
        ? snippet(node, module)
        : formOf(node, module);
  problems.add(module.at(value), `result is ${form}`, "write the literal true or false");
  return false;
}

function readOutput(fields: Fields, module: SourceModule, reach: Reach, problems: Problems): Json | undefined {
  const value = fields.get("output");
  if (!value) return undefined;
  const read = readStatic(value, module, reach.inAgent);
  if (read.ok) return read.value;
  const from = read.module === module ? module.at(value) : read.module.at(read.node);
  problems.add(
    from,
    `output of a result tool is ${read.form}`,
    "write an object literal, a const literal of the same module, or a named import of one from the agent's folder",
  );
  return undefined;
}
