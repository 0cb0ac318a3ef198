/** Names of the hosted platform's API that mean nothing here yet: importable, so that the refusal can name them. */
export const UNSUPPORTED = [
  "useSubagent",
  "defineMemory",
  "documentMemory",
  "httpMemory",
  "useMemory",
  "defineOutbox",
  "registerOutbox",
  "publishOutbox",
] as const;

type Unsupported = (...args: unknown[]) => never;

const unsupported =
  (name: (typeof UNSUPPORTED)[number]): Unsupported =>
  () => {
    throw new Error(`${name} is not supported by this version of Countersign; remove the call.`);
  };

export const useSubagent = unsupported("useSubagent");
export const defineMemory = unsupported("defineMemory");
export const documentMemory = unsupported("documentMemory");
export const httpMemory = unsupported("httpMemory");
export const useMemory = unsupported("useMemory");
export const defineOutbox = unsupported("defineOutbox");
export const registerOutbox = unsupported("registerOutbox");
export const publishOutbox = unsupported("publishOutbox");
