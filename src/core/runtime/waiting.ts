/** Null when the signal fires first. */
export function unlessAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve(null);
    signal.addEventListener("abort", onAbort, { once: true });
    awaited.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Which of the two comes first; `forget` stops the clock. */
export function whenStopped(
  signal: AbortSignal,
  timeoutMs: number,
): { reason: Promise<"timedOut" | "aborted">; forget(): void } {
  let forget = () => {};
  const reason = new Promise<"timedOut" | "aborted">((resolve) => {
    const onAbort = () => resolve("aborted");
    const timer = setTimeout(() => resolve("timedOut"), timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    forget = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    if (signal.aborted) onAbort();
  });
  return { reason, forget: () => forget() };
}

/** What the promise resolves with; null when it rejects, or after `ms`. */
export async function within<T>(ms: number, awaited: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  const first = await Promise.race([awaited.catch(() => null), over]);
  clearTimeout(timer);
  return first;
}
