/** These tests leave keys behind, each under a prefix of its own. */
export default function setup(): void {
  if (!process.env.REDIS_URL) {
    throw new Error("test:redis needs a Redis it may write to: start one and set REDIS_URL=redis://127.0.0.1:PORT.");
  }
}
