import { parseArgs } from "node:util";
import { isPoint, type Point } from "./crashPoints.ts";
import { isStory, STORY_NAMES, type StoryName } from "./stories.ts";

export interface Options {
  readonly stories: readonly StoryName[];
  /** Just this case: where its processes die, the first one's point first. */
  readonly points: readonly Point[] | null;
  readonly pause: boolean;
  /** Every n-th case only. */
  readonly every: number;
  /** Every call, before and after, also where that is the same instant. */
  readonly all: boolean;
}

export const USAGE = `npm run faults -- [--story NAME] [--point FLOW:N:before|after[,…]] [--pause] [--every N] [--all]
  --story   only this one: ${STORY_NAMES.join(", ")}
  --point   only this case of the story: where its processes are killed, one after another
  --pause   the first process is not killed but stands still, and goes on once its successor is through
  --every   only every N-th case of each kind
  --all     before and after every call, also where nothing happened in between that anybody could see`;

/** Throws, with the usage, what is wrong with the arguments. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      story: { type: "string" },
      point: { type: "string" },
      pause: { type: "boolean", default: false },
      every: { type: "string", default: "1" },
      all: { type: "boolean", default: false },
    },
  });
  const { story, point, pause, all } = values;
  if (story !== undefined && !isStory(story)) throw new Error(`there is no story ${story}\n${USAGE}`);
  const points = point === undefined ? null : point.split(",").map(readPoint);
  if (points !== null && story === undefined) throw new Error(`--point needs --story\n${USAGE}`);
  const every = Number(values.every);
  if (!Number.isInteger(every) || every < 1) throw new Error(`--every takes a number from 1\n${USAGE}`);
  return { stories: story === undefined ? STORY_NAMES : [story], points, pause, every, all };
}

function readPoint(text: string): Point {
  if (!isPoint(text)) throw new Error(`${text} is no point\n${USAGE}`);
  return text;
}
