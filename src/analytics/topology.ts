import type { ParsedFilter } from '../contract/query.ts';
import { onlyId } from '../contract/singleton.ts';
import type { StoreReader } from '../store/store.ts';
import { updateOf } from '../topology/update.ts';
import { viewOf } from '../topology/update-view.ts';
import type { ReplayPart } from './queries.ts';

/** Steps that one task of a replay looks at: some 10 ms. */
const stepsAtOnce = 64;

export interface TopologyReplay {
  readonly since: number;
  readonly filter: ParsedFilter;
  readonly limit: number;
}

/**
 * The changes of the graph past a sequence, as messages. What is no longer kept, and what is more than subscribers are
 * told, counts as lost: it is told before what follows it.
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
