/** What a child may cost its parent. Sizes are bytes of UTF-8 JSON unless they say otherwise. */
export const RUNTIME_LIMITS = {
  /** A tool's result. Results go to a model and into the session's log: a larger one is a mistake or an attack. */
  resultBytes: 1024 * 1024,
  /** One `reportProgress` value: a line on a screen. */
  progressBytes: 16 * 1024,
  /** `reportProgress` values passed on per second and call; of the others the newest survives. */
  progressPerSecond: 20,
  /** What is read of a `Response`; as text, an eighth of it is kept, which JSON can at most make six times as long. */
  responseBytes: 1024 * 1024,
  responseTextBytes: 128 * 1024,
  /** An error's message, in code points. */
  messageLength: 2_000,
  /** Writes listed one by one in a traffic record; later ones count as opaque. */
  listedWrites: 1_000,
  /** One line of the channel from the child: the largest result, escaped once more, and its envelope. */
  lineBytes: 4 * 1024 * 1024,
  /** Lines from the child per second: fifty calls that report progress as fast as they may. */
  linesPerSecond: 1_500,
} as const;
