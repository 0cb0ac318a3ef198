/** The name of a secret. Its value never comes near the agent: the gateway puts it into the request on its way out. */
export interface SecretReference {
  readonly kind: "secret";
  readonly id: string;
  readonly scope?: string;
}

/** A header made around a secret: `prefix + secret + suffix`. */
export interface SecretHeader {
  readonly kind: "secret-header";
  readonly secret: SecretReference;
  readonly prefix: string;
  readonly suffix: string;
}

export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,127}$/;

/** Names a secret that was stored with `countersign secrets set NAME`. */
export function useSecret(name: string, options: { readonly scope?: string } = {}): SecretReference {
  if (!SECRET_NAME.test(name)) {
    throw new TypeError(
      `useSecret: ${JSON.stringify(name)} is no secret's name; use capitals, digits and _, as in BILLING_API_KEY.`,
    );
  }
  return Object.freeze({ kind: "secret", id: name, ...(options.scope === undefined ? {} : { scope: options.scope }) });
}

export function secretHeader(
  secret: SecretReference,
  { prefix = "", suffix = "" }: { readonly prefix?: string; readonly suffix?: string } = {},
): SecretHeader {
  if (secret?.kind !== "secret") throw new TypeError("secretHeader takes what useSecret returns.");
  return Object.freeze({ kind: "secret-header", secret, prefix, suffix });
}

/** The header value `Bearer <secret>`. */
export const bearer = (secret: SecretReference): SecretHeader => secretHeader(secret, { prefix: "Bearer " });
