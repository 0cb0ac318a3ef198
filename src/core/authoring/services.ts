import { type EgressRequest, type EgressResponse, gateway, send } from "./egress.ts";

export type ServiceId = "linear" | "github" | "google";

/** An account somebody connected; `label` tells several of one service apart. */
export interface ServiceReference {
  readonly service: ServiceId;
  readonly label?: string;
}

export type ServiceSelection = ServiceId | ServiceReference;

export interface ServiceRequest extends EgressRequest, ServiceReference {
  readonly method: string;
  readonly path: string;
}

/** Calls a service as the account that was connected. Resolves with the service's response whatever its status. */
export const callService = ({ service, label, path, ...request }: ServiceRequest): Promise<EgressResponse> =>
  send(service, path, request, { service, ...(label === undefined ? {} : { label }) });

/** The accounts this session may call. */
export async function listServices(): Promise<readonly ServiceReference[]> {
  const { url, token } = gateway();
  const response = await fetch(`${url}/services`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`listServices: the gateway answered ${response.status}.`);
  return ((await response.json()) as { services: readonly ServiceReference[] }).services;
}
