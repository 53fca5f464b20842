import { type OpenTables, table } from '../../database/rows.ts';
import type { TakenInputs } from './correlations.ts';
import type { IntelHits, IntelRow } from './intel/intel-row.ts';
import type { RuleRow } from './rule-row.ts';

export const detectTables = {
  /** behaviour detector → its state, and the first event that the state does not include */
  behaviourState: table<Buffer, string>('behaviour-state', { encoding: 'binary' }),
  /** rule id → rule */
  rules: table<RuleRow, string>('rules', { strict: true }),
  /** kind → version of all rules, their correlations, or the state of the correlations up to a row of inputs */
  rulesState: table<Buffer, 'version' | 'correlations' | 'state'>('rules-state', { encoding: 'binary' }),
  /** sequence → inputs that the state of correlations does not yet include */
  correlationInputs: table<TakenInputs, number>('correlation-inputs'),
  /** intel list id → list */
  intelLists: table<IntelRow, string>('intel-lists'),
  /** [intel list id, number from 0] → a piece of the list's index, encoded by `encodeIndicators` */
  intelContents: table<Buffer, [string, number]>('intel-contents', { encoding: 'binary', strict: true }),
  /** intel list id → number of hits, and time of the last hit */
  intelHits: table<IntelHits, string>('intel-hits'),
  /** kind → number of changes of intel lists, or seed of the lists' indexes */
  intelState: table<number, 'version' | 'seed'>('intel-state', { strict: true }),
};

export type DetectTables = OpenTables<typeof detectTables>;
