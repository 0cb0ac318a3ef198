import type { Expression, Node } from "oxc-parser";
import type { Json } from "../domain/json.ts";
import type { SourceModule } from "./sourceModule.ts";

/** A value as it is written, or the form that cannot be read without running code (B2), and where that form stands. */
export type StaticValue =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      readonly form: string;
      readonly module: SourceModule;
      readonly node: { readonly start: number };
    };

/** Follows an import, or names why it may not be followed. */
export type FollowImport = (from: SourceModule, specifier: string) => SourceModule | string;

/** What an expression stands for after `const`s, imports and type assertions are looked through. */
export type Located =
  | { readonly ok: true; readonly module: SourceModule; readonly node: Expression }
  | Extract<StaticValue, { ok: false }>;

/** More hops than this between names is a circle. */
const MAX_HOPS = 32;

/** Looks through `as const`, `satisfies`, `!` and parentheses. */
export function unwrap(node: Expression): Expression {
  switch (node.type) {
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
    case "TSTypeAssertion":
    case "ParenthesizedExpression":
      return unwrap(node.expression);
    default:
      return node;
  }
}

export function locate(start: Expression, module: SourceModule, follow: FollowImport, hops = 0): Located {
  const node = unwrap(start);
  if (node.type !== "Identifier") return { ok: true, module, node };
  const fail = (form: string): Located => ({ ok: false, form, module, node });
  if (hops > MAX_HOPS) return fail(`the name ${node.name}, which refers to itself`);
  const imported = module.imports.get(node.name);
  if (imported) {
    if (imported.imported === "*") return fail(`the namespace import ${node.name}`);
    if (imported.imported === "default") return fail(`the default import ${node.name}`);
    const target = follow(module, imported.specifier);
    if (typeof target === "string") return fail(`${target} (${node.name} from "${imported.specifier}")`);
    return exported(imported.imported, target, fail, follow, hops);
  }
  const variable = module.variables.get(node.name);
  if (variable && variable.kind !== "const") return fail(`the \`${variable.kind}\` binding ${node.name}`);
  if (variable?.init) return locate(variable.init, module, follow, hops + 1);
  if (variable) return fail(`the destructured binding ${node.name}`);
  if (module.declarations.has(node.name)) return fail(`the function or class ${node.name}`);
  return fail(node.name === "undefined" ? "undefined" : `the name ${node.name}, which is no const of this module`);
}

function exported(
  name: string,
  target: SourceModule,
  fail: (form: string) => Located,
  follow: FollowImport,
  hops: number,
): Located {
  const binding = target.exports.get(name);
  if (!binding)
    return fail(
      target.reexportsAll ? `a re-export of ${target.file}` : `${name}, which ${target.file} does not export`,
    );
  if (binding.kind === "reexport") return fail(`a re-export of ${target.file}`);
  if (binding.kind === "expression") return fail(`the default export of ${target.file}`);
  if (target.imports.has(binding.name)) return fail(`a re-export of ${target.file}`);
  const variable = target.variables.get(binding.name);
  if (variable?.kind !== "const" || !variable.init) {
    return fail(
      variable
        ? `the \`${variable.kind}\` binding ${name} of ${target.file}`
        : `${name} of ${target.file}, which is no const`,
    );
  }
  return locate(variable.init, target, follow, hops + 1);
}

/** Reads literals, and `const`s that hold literals, wherever `follow` allows. */
export function readStatic(start: Expression, from: SourceModule, follow: FollowImport): StaticValue {
  const found = locate(start, from, follow);
  if (!found.ok) return found;
  const { node, module } = found;
  const nested = (inner: Expression) => readStatic(inner, module, follow);
  const fail = (form: string, at: Node = node): StaticValue => ({ ok: false, form, module, node: at });
  switch (node.type) {
    case "Literal":
      return !("regex" in node) && isJsonLiteral(node.value)
        ? { ok: true, value: node.value }
        : fail(`the literal ${node.raw ?? "of another kind"}`);
    case "TemplateLiteral":
      return node.expressions.length === 0
        ? { ok: true, value: node.quasis[0]?.value.cooked ?? "" }
        : fail("a template literal with expressions");
    case "UnaryExpression": {
      const operand = nested(node.argument);
      if (node.operator !== "-" || !operand.ok || typeof operand.value !== "number")
        return fail(`the operator ${node.operator}`);
      return { ok: true, value: -operand.value };
    }
    case "BinaryExpression": {
      if (node.operator !== "+") return fail(`the operator ${node.operator}`);
      const left = nested(node.left);
      if (!left.ok) return left;
      const right = nested(node.right);
      if (!right.ok) return right;
      if (typeof left.value !== "string" || typeof right.value !== "string")
        return fail("the operator + on other things than text");
      return { ok: true, value: left.value + right.value };
    }
    case "ArrayExpression": {
      const values: Json[] = [];
      for (const element of node.elements) {
        if (element === null) return fail("a hole in an array");
        if (element.type === "SpreadElement") return fail(`a spread ${snippet(element, module)}`, element);
        const value = nested(element);
        if (!value.ok) return value;
        values.push(value.value);
      }
      return { ok: true, value: values };
    }
    case "ObjectExpression":
      return readObject(node, module, nested, fail);
    default:
      return fail(formOf(node, module));
  }
}

function readObject(
  node: Extract<Expression, { type: "ObjectExpression" }>,
  module: SourceModule,
  nested: (inner: Expression) => StaticValue,
  fail: (form: string, at?: Node) => StaticValue,
): StaticValue {
  const entries: [string, Json][] = [];
  for (const property of node.properties) {
    if (property.type === "SpreadElement") return fail(`a spread ${snippet(property, module)}`, property);
    const key = propertyKey(property);
    if (key === null) return fail(`a computed property name ${snippet(property.key, module)}`, property);
    if (property.kind !== "init" || property.method) return fail(`the method or accessor ${key}`, property);
    if (key === "__proto__") return fail("the key __proto__", property);
    const value = nested(property.value);
    if (!value.ok) return value;
    entries.push([key, value.value]);
  }
  return { ok: true, value: Object.fromEntries(entries) };
}

/** The name of a property, or null when it is computed. */
export function propertyKey(property: Extract<Node, { type: "Property" }>): string | null {
  if (property.computed) return null;
  const { key } = property;
  if (key.type === "Identifier") return key.name;
  return key.type === "Literal" ? String(key.value) : null;
}

/** The words for an expression that cannot be read, for messages. */
export function formOf(node: Node, module: SourceModule): string {
  const text = snippet(node, module);
  switch (node.type) {
    case "CallExpression":
    case "NewExpression":
    case "TaggedTemplateExpression":
      return `a function call ${text}`;
    case "MemberExpression": {
      const object = node.object.type === "Identifier" ? module.imports.get(node.object.name) : undefined;
      return object?.imported === "*" ? `the namespace member ${text}` : `the member expression ${text}`;
    }
    case "ConditionalExpression":
    case "LogicalExpression":
      return `a condition ${text}`;
    case "ArrowFunctionExpression":
    case "FunctionExpression":
      return "a function";
    case "ClassExpression":
      return "a class";
    default:
      return `the expression ${text}`;
  }
}

export function snippet(node: { readonly start: number; readonly end: number }, module: SourceModule): string {
  const text = module.text.slice(node.start, node.end).replace(/\s+/g, " ");
  return `\`${text.length > 60 ? `${text.slice(0, 59)}…` : text}\``;
}

const isJsonLiteral = (value: unknown): value is null | boolean | number | string =>
  value === null ? true : ["boolean", "number", "string"].includes(typeof value);
