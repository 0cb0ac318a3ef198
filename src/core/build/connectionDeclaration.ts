import type { Expression, Node } from "oxc-parser";
import {
  headerNameProblem,
  idProblem,
  literalHeaderProblem,
  methodsProblem,
  originProblem,
  pathPrefixProblem,
} from "../authoring/connectionShape.ts";
import { SECRET_NAME } from "../authoring/secret.ts";
import type { ShapeProblem } from "../authoring/toolShape.ts";
import type { Json } from "../domain/json.ts";
import type { ConnectionHeader, ConnectionManifest } from "../domain/manifest.ts";
import { type AuthoringCall, authoringName } from "./authoringCalls.ts";
import type { Problems } from "./problems.ts";
import type { SourceModule } from "./sourceModule.ts";
import { type FollowImport, formOf, locate, propertyKey, readStatic, snippet } from "./staticValue.ts";

export interface ConnectionRules {
  readonly follow: FollowImport;
  readonly allowLoopback: boolean;
  readonly problems: Problems;
}

/** What a `defineConnection()` call declares; `managed`: a provider's credential instead of an origin (C5). */
export type DeclaredConnection =
  | { readonly kind: "http"; readonly manifest: ConnectionManifest }
  | { readonly kind: "managed"; readonly id: string };

/** Reads one `defineConnection()` call from its source (B5). Null when it cannot be read; the problems say why. */
export function readConnection({ node, module }: AuthoringCall, rules: ConnectionRules): DeclaredConnection | null {
  const { problems, follow } = rules;
  const where = module.at(node);
  const fields = objectFields(node.arguments[0], "defineConnection()", module, rules);
  if (!fields) return null;
  const read = (field: string): Json | undefined => {
    const value = fields.get(field);
    if (!value) return undefined;
    const found = readStatic(value, module, follow);
    if (found.ok) return found.value;
    problems.add(
      module.at(value),
      `${field} of a connection is ${found.form}`,
      "write it as a literal: it is read without running code",
    );
    return undefined;
  };
  const checked = (field: string, value: Json | undefined, problem: ShapeProblem | null): Json | undefined => {
    // What could not be read has its own problem already.
    if (problem && (value !== undefined || !fields.has(field))) problems.add(where, problem.what, problem.instead);
    return problem ? undefined : value;
  };

  const rawId = read("id");
  const id = checked("id", rawId, idProblem("connection", rawId));
  if (fields.has("provider")) return typeof id === "string" ? { kind: "managed", id } : null;
  const rawOrigin = read("origin");
  const origin = checked("origin", rawOrigin, originProblem("origin", rawOrigin, rules.allowLoopback));
  const rawMethods = read("methods");
  const methods = checked("methods", rawMethods, methodsProblem(rawMethods));
  const rawPrefix = read("pathPrefix");
  const pathPrefix = checked("pathPrefix", rawPrefix, pathPrefixProblem(rawPrefix));
  const redirectOrigins = readRedirects(read("redirectOrigins"), where, rules);
  const headers = fields.has("headers") ? readHeaders(fields.get("headers"), module, rules) : [];
  if (typeof id !== "string" || typeof origin !== "string") return null;
  return {
    kind: "http",
    manifest: {
      id,
      origin: new URL(origin).origin,
      ...(Array.isArray(methods) ? { methods: methods.map((method) => String(method).toUpperCase()) } : {}),
      ...(typeof pathPrefix === "string" ? { pathPrefix } : {}),
      headers,
      redirectOrigins,
    },
  };
}

type Fields = ReadonlyMap<string, Expression>;

function objectFields(
  argument: Node | undefined,
  what: string,
  module: SourceModule,
  { follow, problems }: ConnectionRules,
): Fields | null {
  const found = argument ? locate(argument as Expression, module, follow) : null;
  const object = found?.ok ? found.node : null;
  if (!argument || object?.type !== "ObjectExpression") {
    const at = argument ?? { start: 0 };
    const form = argument ? snippet(argument, module) : "nothing";
    problems.add(module.at(at), `${what} is given ${form}, not an object literal`, "write the object in place");
    return null;
  }
  const fields = new Map<string, Expression>();
  for (const property of object.properties) {
    const key = property.type === "Property" && property.kind === "init" ? propertyKey(property) : null;
    if (property.type !== "Property" || key === null) {
      problems.add(
        module.at(property),
        `${snippet(property, module)} in ${what}`,
        "write ordinary properties, without spreads and computed names",
      );
      continue;
    }
    fields.set(key, property.value);
  }
  return fields;
}

/** Origins as text, or as the hosted platform writes them, `{ origin }`. */
function readRedirects(
  value: Json | undefined,
  where: ReturnType<SourceModule["at"]>,
  rules: ConnectionRules,
): string[] {
  if (value === undefined) return [];
  const origins = (Array.isArray(value) ? value : [value]).map((entry: Json) =>
    isObject(entry) && Object.keys(entry).length === 1 ? entry["origin"] : entry,
  );
  return origins.flatMap((origin) => {
    const problem = originProblem("redirectOrigins", origin, rules.allowLoopback);
    if (problem) rules.problems.add(where, problem.what, problem.instead);
    return problem ? [] : [new URL(String(origin)).origin];
  });
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readHeaders(value: Expression | undefined, module: SourceModule, rules: ConnectionRules): ConnectionHeader[] {
  const found = value ? locate(value, module, rules.follow) : null;
  const owner = found?.ok ? found.module : module;
  const fields = objectFields(found?.ok ? found.node : value, "headers", owner, rules);
  return [...(fields ?? [])].flatMap(([name, header]) => {
    const badName = headerNameProblem(name);
    if (badName) rules.problems.add(owner.at(header), badName.what, badName.instead);
    const read = badName ? null : readHeader(name, header, owner, rules);
    return read ? [read] : [];
  });
}

/** A literal, `useSecret()`, `bearer(useSecret())` or `secretHeader(useSecret(), { prefix, suffix })`. */
function readHeader(
  name: string,
  value: Expression,
  module: SourceModule,
  rules: ConnectionRules,
): ConnectionHeader | null {
  const found = locate(value, module, rules.follow);
  const node = found.ok ? found.node : value;
  const owner = found.ok ? found.module : module;
  if (node.type !== "CallExpression") {
    const literal = readStatic(value, module, rules.follow);
    const problem = literal.ok && typeof literal.value === "string" ? literalHeaderProblem(name, literal.value) : null;
    if (problem) rules.problems.add(module.at(value), problem.what, problem.instead);
    if (literal.ok && typeof literal.value === "string") return problem ? null : { name, literal: literal.value };
    return refuseHeader(name, node, owner, rules);
  }
  const call = authoringName(node.callee, owner);
  const [first, second] = node.arguments;
  if (call === "useSecret") return withSecret(name, node, owner, rules, {});
  if (call !== "bearer" && call !== "secretHeader") return refuseHeader(name, node, owner, rules);
  const secret = first ? locate(first as Expression, owner, rules.follow) : null;
  const isSecret =
    secret?.ok &&
    secret.node.type === "CallExpression" &&
    authoringName(secret.node.callee, secret.module) === "useSecret";
  if (!secret?.ok || !isSecret) return refuseHeader(name, node, owner, rules);
  const around =
    call === "bearer" ? { prefix: "Bearer " } : second ? readStatic(second as Expression, owner, rules.follow) : {};
  if ("ok" in around && !around.ok) return refuseHeader(name, node, owner, rules);
  return withSecret(name, secret.node, secret.module, rules, "ok" in around ? around.value : around);
}

function withSecret(
  name: string,
  node: Expression,
  module: SourceModule,
  rules: ConnectionRules,
  around: Json,
): ConnectionHeader | null {
  const secret = readSecret(node, module, rules);
  if (!secret || !isObject(around)) return null;
  const part = (key: string): string => (typeof around[key] === "string" ? String(around[key]) : "");
  return { name, ...secret, prefix: part("prefix"), suffix: part("suffix") };
}

/** The name in a `useSecret()` call. */
export function readSecret(
  node: Node,
  module: SourceModule,
  { follow, problems }: Pick<ConnectionRules, "follow" | "problems">,
): { readonly secret: string; readonly scope?: string } | null {
  const [first, second] = node.type === "CallExpression" ? node.arguments : [];
  const read = first ? readStatic(first as Expression, module, follow) : null;
  if (!read?.ok || typeof read.value !== "string" || !SECRET_NAME.test(read.value)) {
    problems.add(
      module.at(node),
      "useSecret is given no secret's name",
      'write it as text in capitals, as in useSecret("BILLING_API_KEY")',
    );
    return null;
  }
  const options = second ? readStatic(second as Expression, module, follow) : null;
  const scope = options?.ok && isObject(options.value) ? options.value["scope"] : undefined;
  return { secret: read.value, ...(typeof scope === "string" ? { scope } : {}) };
}

function refuseHeader(name: string, node: Node, module: SourceModule, { problems }: ConnectionRules): null {
  problems.add(
    module.at(node),
    `the header ${name} is ${formOf(node, module)}`,
    'write text, bearer(useSecret("NAME")) or secretHeader(useSecret("NAME"), { prefix: "…" })',
  );
  return null;
}
