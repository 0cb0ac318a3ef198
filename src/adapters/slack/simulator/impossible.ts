/** Somebody asked the simulator for what cannot be done in this workspace: an unknown channel, a button that is gone. */
export class Impossible extends Error {
  constructor(message: string) {
    super(`Slack simulator: ${message}`);
    this.name = "Impossible";
  }
}
