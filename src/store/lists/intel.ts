import type { IntelIndicator, IntelList } from '../../contract/resources/intel-list.ts';
import { indicatorKinds, intelFormats, severities } from '../../contract/vocabulary.ts';
import { oneOf, text } from './filter.ts';
import type { ListSpec } from './list.ts';
import { rank, timeOrder } from './order.ts';

export const intelLists: ListSpec<IntelList> = {
  type: 'intel_list',
  terms: {
    enabled: text((list) => String(list.enabled)),
    severity: oneOf(severities, (list) => list.severity),
    format: oneOf(intelFormats, (list) => list.format),
    name: text((list) => list.name),
  },
  sorts: {
    changed_at: (list) => timeOrder(list.changed_at),
    name: (list) => list.name,
    severity: (list) => rank(severities, list.severity),
    indicators: (list) => list.indicators,
    hits: (list) => list.hits,
  },
  time: (list) => list.changed_at,
  names: (list) => [list.name, list.description, list.source],
};

/** The indicators of one list. */
export const indicatorsOf = (listId: string): ListSpec<IntelIndicator> => ({
  type: 'intel_list',
  of: listId,
  terms: { kind: oneOf(indicatorKinds, (indicator) => indicator.kind) },
  sorts: {
    value: (indicator) => indicator.value,
    // Indicators without an expiry sort last.
    valid_until: ({ valid_until }) =>
      valid_until === undefined ? Number.MAX_SAFE_INTEGER : timeOrder(valid_until),
  },
  time: (indicator) => indicator.valid_until,
  names: (indicator) => [indicator.value, indicator.label],
});
