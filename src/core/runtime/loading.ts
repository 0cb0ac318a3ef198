/** The child ended, whoever ended it; the message is the reason, without a stack. */
export class ProcessLost extends Error {
  override readonly name = "ProcessLost";
}

export interface Loading {
  /** Null once the bundle is loaded, else why it is not. Rejects with `ProcessLost` when no child came to be. */
  readonly loaded: Promise<string | null>;
  /** The process stands and is told to load: from here on an end is the fault of the agent's code. */
  begun(): void;
  finished(failure: string | null): void;
}

/** Follows a child from its start to its loaded bundle; each of the two steps may take `timeoutMs`. */
export function followLoading(gone: Promise<string>, end: (reason: string) => void, timeoutMs: number): Loading {
  let ours = true;
  let settle: (failure: string | null) => void = () => {};
  let timer = setTimeout(() => end("it did not come up"), timeoutMs);
  const loaded = new Promise<string | null>((resolve, reject) => {
    settle = resolve;
    void gone.then((reason) => {
      clearTimeout(timer);
      if (ours) reject(new ProcessLost(reason));
      else resolve(reason);
    });
  });
  loaded.catch(() => {}); // Whoever wants to know asks.
  return {
    loaded,
    begun() {
      ours = false;
      clearTimeout(timer);
      timer = setTimeout(() => end("its code did not finish loading"), timeoutMs);
    },
    finished(failure) {
      clearTimeout(timer);
      settle(failure);
    },
  };
}
