/**
 * What Slack accepts, measured in UTF-16 units of what is sent, escapes included: Slack does not say whether it counts
 * units or code points, and units are never fewer.
 */
export const LIMITS = {
  blocks: 50,
  actionsElements: 25,
  contextElements: 10,
  fields: 10,
  fieldText: 2_000,
  sectionText: 3_000,
  headerText: 150,
  buttonText: 75,
  buttonValue: 2_000,
  identifier: 255,
  /** Slack advises 4,000: up to 4,040 a text was seen as one post, above as several, and `chat.update` refuses near 4,000. */
  text: 3_900,
  /** All text of one message together. `msg_blocks_too_long` was seen at 13,200 with every block legal. */
  message: 13_000,
  /** Incoming bodies, bytes (G1). */
  body: 1_048_576,
} as const;
