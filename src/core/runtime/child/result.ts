import { type Json, toJson } from "../../domain/json.ts";
import { RUNTIME_LIMITS } from "../limits.ts";
import { messageOf } from "./failure.ts";

export type Text = { readonly ok: true; readonly json: string } | { readonly ok: false; readonly message: string };

/** A tool's value as JSON text (T5); a `Response` is read into `{status, ok, body}` first. */
export async function resultText(value: unknown): Promise<Text> {
  const plain = isResponse(value) ? await readResponse(value) : value;
  return jsonText(plain, "The tool returned", RUNTIME_LIMITS.resultBytes);
}

export const progressText = (value: unknown): Text =>
  jsonText(value, "The tool reported as progress", RUNTIME_LIMITS.progressBytes);

/** By its tag first: the mere name `Response` makes Node load all of fetch, 40 ms that most calls need not spend. */
const isResponse = (value: unknown): value is Response =>
  Object.prototype.toString.call(value) === "[object Response]" && value instanceof Response;

function jsonText(value: unknown, what: string, limit: number): Text {
  try {
    const checked = toJson(value);
    if (!checked.ok)
      return { ok: false, message: `${what} what is not JSON, at ${checked.error.at}: ${checked.error.reason}.` };
    const json = JSON.stringify(checked.value);
    const bytes = Buffer.byteLength(json);
    if (bytes > limit) return { ok: false, message: `${what} ${bytes} bytes of JSON; at most ${limit} are kept.` };
    return { ok: true, json };
  } catch (error) {
    return { ok: false, message: `${what} what cannot be read as JSON: ${messageOf(error)}` };
  }
}

/** `body` is the parsed JSON where the response says that it is JSON and it is, else text; null when already read. */
async function readResponse(response: Response): Promise<Json> {
  const { status, ok } = response;
  if (response.bodyUsed) return { status, ok, body: null };
  const { bytes, whole } = await readBody(response);
  const text = bytes.toString("utf8");
  const isJson = /^application\/([\w.+-]+\+)?json\b/i.test(response.headers.get("content-type") ?? "");
  const parsed = whole && isJson ? parse(text) : undefined;
  const kept =
    bytes.length > RUNTIME_LIMITS.responseTextBytes
      ? bytes.toString("utf8", 0, RUNTIME_LIMITS.responseTextBytes)
      : text;
  return { status, ok, body: parsed === undefined ? kept : parsed };
}

async function readBody(response: Response): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > RUNTIME_LIMITS.responseBytes) return { bytes: Buffer.concat(chunks), whole: false };
  }
  return { bytes: Buffer.concat(chunks), whole: true };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
