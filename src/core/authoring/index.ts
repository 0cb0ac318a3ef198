/** The authoring API: what agent code imports as `@opencomputer/agent` or `countersign/agent`. */
export { type ChannelDefinition, defineChannel, registerChannel } from "./channel.ts";
export {
  type ConnectionDefinition,
  type ConnectionInput,
  type ConnectionReference,
  connection,
  defineConnection,
  type HttpConnectionInput,
  type ManagedConnectionInput,
} from "./connection.ts";
export type { DataValue, JsonSchema, ResourceReference } from "./data.ts";
export { type EgressBody, EgressError, type EgressRequest, type EgressResponse } from "./egress.ts";
export { type GitHubApp, type GitHubAppPermissions, githubApp } from "./githubApp.ts";
export {
  type AgentHooks,
  type ModelSelection,
  useConnection,
  useCurrentInput,
  useInput,
  useMcpServer,
  useModel,
  useService,
  useSessionData,
  useTool,
} from "./hooks.ts";
export type {
  AgentInput,
  ChannelInput,
  EventInput,
  InputAnswer,
  InputChannel,
  InputSteering,
  PlainInput,
  ScheduleInput as ScheduledInput,
  WebhookInput,
} from "./input.ts";
export { defineMcpServer, type McpServerDefinition } from "./mcpServer.ts";
export { NotApplied } from "./notApplied.ts";
export type { ApprovalRuleDefinition, ApprovalsDefinition, ProjectDefinition } from "./project.ts";
export { defineSchedule, type ScheduleDefinition, type ScheduleInput } from "./schedule.ts";
export { bearer, type SecretHeader, type SecretReference, secretHeader, useSecret } from "./secret.ts";
export {
  callService,
  listServices,
  type ServiceId,
  type ServiceReference,
  type ServiceRequest,
  type ServiceSelection,
} from "./services.ts";
export {
  type ApplyContext,
  type ApprovalDecision,
  type ApprovalFact,
  type ApprovalPreview,
  type ApprovalToolInput,
  type ApprovalVerification,
  defineTool,
  type RunToolInput,
  type ToolContext,
  type ToolDefinition,
  type ToolExecutionContext,
  type ToolInput,
  type VerifyContext,
} from "./tool.ts";
export {
  defineMemory,
  defineOutbox,
  documentMemory,
  httpMemory,
  publishOutbox,
  registerOutbox,
  useMemory,
  useSubagent,
} from "./unsupported.ts";
