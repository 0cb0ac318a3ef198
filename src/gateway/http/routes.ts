import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Core, WorkerCore } from "../../core/flow/core.ts";
import type { Followers } from "./follow.ts";

/** What a route group is handed. */
export interface RouteDeps {
  readonly core: Core;
  /** Rings after a flow has committed; never rejects. */
  readonly ring: WorkerCore["ring"];
  /** Somebody asked a running turn to stop: lets a worker of this process notice at once. Never throws. */
  readonly nudge: () => void;
  readonly followers: Followers;
}

/** One route group: its addresses are below the API's base path. */
export type Routes = (deps: RouteDeps) => FastifyPluginAsyncTypebox;
