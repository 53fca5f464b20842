import type { ParsedFilter } from '../contract/query.ts';
import { onlyId } from '../contract/singleton.ts';
import type { StoreReader } from '../store/store.ts';
import { updateOf, viewOf } from '../topology/model/update.ts';
import type { ReplayPart } from './queries.ts';

/** Maximum steps that one task of a replay examines: about 10 ms of work. */
const stepsAtOnce = 64;

export interface TopologyReplay {
  readonly since: number;
  readonly filter: ParsedFilter;
  readonly limit: number;
}

/**
 * Returns the changes of the graph after a sequence, as messages. Changes that are no longer stored, or too
 * large to be sent, count as lost, and their number is reported before later changes.
 */
export function replayTopology(reader: StoreReader, { since, filter, limit }: TopologyReplay): ReplayPart {
  reader.assets.refresh();
  const steps = reader.topologySteps(since, Math.min(limit, stepsAtOnce));
  const [first] = steps;
  if (first === undefined) return { messages: [], next: since, lost: 0 };
  if (first.seq > since + 1) return { messages: [], next: first.seq - 1, lost: first.seq - 1 - since };
  const told = steps.findIndex(({ step }) => step !== undefined);
  if (told !== 0) {
    const next = told < 0 ? steps.at(-1)!.seq : steps[told]!.seq - 1;
    return { messages: [], next, lost: next - since };
  }
  const view = viewOf(filter, reader.assets);
  const messages: { seq: number; json: string }[] = [];
  let next = since;
  for (const { seq, step } of steps) {
    if (step === undefined) break;
    const attributes = updateOf(step, view);
    if (attributes !== undefined)
      messages.push({ seq, json: JSON.stringify({ id: onlyId, type: 'topology_update', attributes }) });
    next = seq;
  }
  return { messages, next, lost: 0 };
}
