/**
 * The wire to the gateway: every request of a tool through a connection or a service is one POST to the parent
 * process, which alone holds the secret. The parent's answer is the target's own answer, status, headers and body.
 */
export interface EgressRequest {
  readonly method?: string | undefined;
  readonly headers?: RequestInit["headers"] | undefined;
  readonly body?: EgressBody | null | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/** Text, because the wire is JSON; bytes are accepted as long as they are UTF-8. */
export type EgressBody = string | URLSearchParams | Uint8Array | ArrayBuffer;

/**
 * A web `Response` whose `json()` is as loose as browsers type it: Node's own types make it `unknown`, and then
 * `(await response.json()).name` needs a cast in every tool.
 */
export interface EgressResponse extends Response {
  json(): Promise<ReturnType<typeof JSON.parse>>;
}

/** The gateway refused the request or could not make it; `code` is stable, such as `connection_path_refused`. */
export class EgressError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "EgressError";
    this.code = code;
  }
}

/** The header by which the gateway tells an answer of its own from the target's. */
const REFUSAL_HEADER = "x-countersign-error";

/** Sends one request through `id`; `extra` goes beside it in the message. */
export async function send(
  id: string,
  path: string,
  request: EgressRequest,
  extra: Readonly<Record<string, string>> = {},
): Promise<EgressResponse> {
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw new TypeError(
      `${id}: ${JSON.stringify(path)} is not an absolute path; begin it with "/", without the origin.`,
    );
  }
  const headers = new Headers(request.headers);
  const body = bodyText(id, request.body);
  if (request.body instanceof URLSearchParams && !headers.has("content-type")) {
    headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
  }
  const message = {
    method: (request.method ?? "GET").toUpperCase(),
    path,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
    ...extra,
  };
  const response = await fetch(`${gateway().url}/${encodeURIComponent(id)}/fetch`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway().token}`, "content-type": "application/json" },
    body: JSON.stringify(message),
    // A redirect of the target is the gateway's to follow; followed from here it would leave without its checks.
    redirect: "manual",
    ...(request.signal ? { signal: request.signal } : {}),
  });
  const refusal = response.headers.get(REFUSAL_HEADER);
  if (refusal !== null) throw new EgressError(refusal, await sentence(response, refusal));
  return response;
}

/**
 * Where the gateway listens for this runtime. The environment is the contract here: it is how the gateway tells a
 * child, and what a project's own tests set. Read at every call, since those tests set it late.
 */
export function gateway(): { readonly url: string; readonly token: string } {
  const url = process.env["OPENCOMPUTER_CONNECTIONS_URL"];
  const token = process.env["OPENCOMPUTER_CONNECTION_TOKEN"];
  if (!url || !token) {
    throw new Error(
      "Connections are reached through the gateway, and none is here. In a test, set OPENCOMPUTER_CONNECTIONS_URL and OPENCOMPUTER_CONNECTION_TOKEN.",
    );
  }
  return { url: url.replace(/\/+$/, ""), token };
}

function bodyText(id: string, body: EgressRequest["body"]): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  if (body instanceof Uint8Array || body instanceof ArrayBuffer) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    } catch {
      throw new TypeError(
        `${id}: the body is not UTF-8; encode binary data, for example as base64, before sending it.`,
      );
    }
  }
  throw new TypeError(
    `${id}: a body is text, URLSearchParams or UTF-8 bytes; read a stream, form or blob into one of them first.`,
  );
}

async function sentence(response: Response, code: string): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const error = (body as { error?: { message?: unknown } } | null)?.error;
  return typeof error?.message === "string" ? error.message : `The gateway refused the request (${code}).`;
}
