/**
 * Slack's limits on Block Kit, in UTF-16 units: which unit Slack counts is not documented, and this one is never the
 * smaller count. The simulator has its own table and shares none with the adapter, because a limit that the adapter
 * has wrong must be noticed here.
 */
export const LIMITS = {
  messageBlocks: 50,
  viewBlocks: 100,
  id: 255,
  text: 3_000,
  fields: 10,
  field: 2_000,
  header: 150,
  contextElements: 10,
  actionsElements: 25,
  contextActionsElements: 5,
  buttonText: 75,
  buttonValue: 2_000,
  url: 3_000,
  accessibilityLabel: 75,
  altText: 2_000,
  options: 100,
  optionText: 75,
  optionValue: 150,
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,
  cardTitle: 150,
  cardBody: 200,
  markdown: 12_000,
  viewTitle: 24,
  viewButton: 24,
  privateMetadata: 3_000,
  inputLabel: 2_000,
} as const;

/**
 * The whole of a message's blocks. Undocumented: `msg_blocks_too_long` was measured from 13,297 characters on in one
 * markdown block, and a divider beside it took 125 more (bolt-js#2509), hence a price for each block.
 */
export const MESSAGE_SIZE = { total: 13_297, perBlock: 100 } as const;

export const messageSize = (blocks: readonly unknown[]): number =>
  JSON.stringify(blocks).length + blocks.length * MESSAGE_SIZE.perBlock;
