import { indicatorAttributes, intelAttributes } from '../../contract/list-attributes.ts';
import type { IntelIndicator, IntelList } from '../../contract/resources/intel-list.ts';
import { severities } from '../../contract/vocabulary.ts';
import { attributeList } from '../../database/lists/attributes.ts';
import type { ListSpec } from '../../database/lists/list.ts';
import { rank, timeOrder } from '../../database/lists/order.ts';

export const intelLists: ListSpec<IntelList> = attributeList(intelAttributes, {
  type: 'intel_list',
  sorts: { severity: (list) => rank(severities, list.severity) },
  time: (list) => list.changed_at,
  names: (list) => [list.name, list.description, list.source],
});

const indicators: ListSpec<IntelIndicator> = attributeList(indicatorAttributes, {
  type: 'intel_list',
  sorts: {
    // Indicators without an expiry sort last.
    valid_until: ({ valid_until }) => (valid_until === undefined ? Number.MAX_SAFE_INTEGER : timeOrder(valid_until)),
  },
  time: (indicator) => indicator.valid_until,
  names: (indicator) => [indicator.value, indicator.label],
});

/** The indicators of one list. */
export const indicatorsOf = (listId: string): ListSpec<IntelIndicator> => ({ ...indicators, of: listId });
