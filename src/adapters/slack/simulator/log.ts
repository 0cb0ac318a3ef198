/** The part of a pino logger that the simulator uses. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export const SILENT: Log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
