import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConnectionManifest } from "../../../src/core/domain/manifest.ts";
import { EgressError } from "../../../src/core/egress/egressError.ts";
import { redirectTarget, targetOf } from "../../../src/core/egress/target.ts";

const STRICT = { allowLoopback: false, allowPrivate: false };
const connection = (over: Partial<ConnectionManifest> = {}): ConnectionManifest => ({
  id: "billing",
  origin: "https://billing.example",
  pathPrefix: "/v1",
  headers: [],
  redirectOrigins: ["https://files.example"],
  ...over,
});

const codeOf = (judge: () => unknown): string => {
  try {
    judge();
    return "allowed";
  } catch (error) {
    return error instanceof EgressError ? error.code : String(error);
  }
};
const judge = (path: string, over: Partial<ConnectionManifest> = {}, method = "GET") =>
  codeOf(() => targetOf(connection(over), method, path, STRICT));

describe("C2 the path an agent asks for", () => {
  it.each([
    "/v1",
    "/v1/",
    "/v1/customers/cus_42?expand=plan&q=a b",
    "/v1/a%2Fb",
    "/v1/100%25",
    "/v1/ünïcode/😀",
    "/v1/a.b/..c/...",
    "/v1?next=//x/../y",
  ])("C2 allows %j", (path) => {
    expect(judge(path)).toBe("allowed");
  });

  it.each([
    "",
    "v1/x",
    "/",
    "/v10",
    "/v1x/y",
    "/V1/x",
    "//evil.example/v1",
    "/\\evil.example/v1",
    "https://evil.example/v1",
    "@evil.example/v1",
    "/v1/../admin",
    "/v1/./x",
    "/v1/..",
    "/v1/..;/admin",
    "/v1/%2e%2e/admin",
    "/v1/%2E./admin",
    "/v1/.%2e%2fadmin",
    "/v1/%252e%252e/admin",
    "/v1/%25252e%25252e/admin",
    "/v1/%2525252525252e/x",
    "/v1/%5c..%5cadmin",
    "/v1/a\\b",
    "/v1//admin",
    "/v1/%2f/admin",
    "/v1/a%00b",
    "/v1/a\u0000b",
    "/v1/a\tb",
    "/v1/.\n./admin",
    "/v1/a%0d%0ab",
    "/v1/x#frag",
    "/v1/%zz",
    "/v1/%",
    "/v1/%c0%ae%c0%ae/admin",
    "/%76%31/x",
  ])("C2 refuses %j", (path) => {
    expect(judge(path)).toBe("connection_path_refused");
  });

  it("C2 whatever is allowed stays on the origin and inside the prefix, however often a server decodes it", () => {
    const piece = fc.constantFrom(
      "/",
      "..",
      ".",
      "%2e",
      "%2f",
      "%5c",
      "\\",
      "%25",
      "2e",
      "2f",
      ";",
      "v1",
      "@evil.example",
      ":",
      "a",
      "?",
      "%00",
      "//",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/v1/${pieces.join("")}`;
        if (judge(path) !== "allowed") return;
        const { url } = targetOf(connection(), "GET", path, STRICT);
        expect(url.origin).toBe("https://billing.example");
        for (let read = url.pathname, layer = 0; layer < 6; layer++) {
          expect(new URL(read.replaceAll("\\", "/"), "https://billing.example").href).toMatch(
            /^https:\/\/billing\.example\/v1(\/|$)/,
          );
          read = read.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it("C2 without a prefix every plain path is inside", () => {
    const { pathPrefix: _, ...open } = connection();
    expect(codeOf(() => targetOf(open, "GET", "/anything", STRICT))).toBe("allowed");
    expect(judge("/anything", { pathPrefix: "/" })).toBe("allowed");
    expect(judge("/v1/x", { pathPrefix: "/v1/" })).toBe("allowed");
  });
});

describe("C2 method and origin", () => {
  it("C2 only declared methods, and never those that tunnel or echo", () => {
    const methods = ["GET", "post"];
    for (const method of ["GET", "POST"]) expect(judge("/v1", { methods }, method)).toBe("allowed");
    for (const method of ["PUT", "DELETE", "HEAD"])
      expect(judge("/v1", { methods }, method)).toBe("connection_method_refused");
    for (const method of ["TRACE", "CONNECT", "", "GET /", "G\r\nX"])
      expect(judge("/v1", {}, method)).toBe("connection_method_refused");
  });

  it("C2 plain http is for loopback, in development only", () => {
    const at = (origin: string, allowLoopback: boolean) =>
      codeOf(() => targetOf(connection({ origin }), "GET", "/v1", { allowLoopback, allowPrivate: true }));
    expect(at("http://billing.example", true)).toBe("connection_origin_refused");
    expect(at("http://127.0.0.1:4100", false)).toBe("connection_origin_refused");
    expect(at("http://127.0.0.1:4100", true)).toBe("allowed");
    expect(at("http://[::1]:4100", true)).toBe("allowed");
  });

  it.each([
    "https://127.0.0.1",
    "https://2130706433",
    "https://0x7f.1",
    "https://10.0.0.1",
    "https://169.254.169.254",
    "https://[::ffff:10.0.0.1]",
    "https://[fd00::1]",
  ])("C2 refuses the literal private address %s", (origin) => {
    expect(judge("/v1", { origin })).toBe("connection_address_refused");
  });
});

describe("C2 redirects", () => {
  const from = new URL("https://billing.example/v1/a");
  const redirect = (location: string, over: Partial<ConnectionManifest> = {}, method = "GET") =>
    redirectTarget(connection(over), method, from, location, STRICT);

  it("C2 on the own origin the connection's headers go along, on a declared one they do not", () => {
    expect(redirect("/v1/b?x=1")).toMatchObject({ own: true, url: new URL("https://billing.example/v1/b?x=1") });
    expect(redirect("https://billing.example:443/v1/b#top").own).toBe(true);
    expect(redirect("https://files.example/anywhere")).toMatchObject({ own: false });
  });

  it.each([
    "https://evil.example/",
    "http://files.example/",
    "https://files.example:8443/",
    "https://user:pw@files.example/",
    "//evil.example/v1",
    "/admin",
    "/v1/%2e%2e/admin",
    "javascript:alert(1)",
    "http://billing.example/v1",
    "https://",
  ])("C2 refuses a redirect to %j", (location) => {
    expect(codeOf(() => redirect(location))).toBe("connection_redirect_refused");
  });

  it("C2 a redirect may not smuggle in a method or an address that was not allowed", () => {
    expect(codeOf(() => redirect("/v1/b", { methods: ["POST"] }, "GET"))).toBe("connection_redirect_refused");
    expect(codeOf(() => redirect("https://10.0.0.1/", { redirectOrigins: ["https://10.0.0.1"] }))).toBe(
      "connection_address_refused",
    );
  });
});
