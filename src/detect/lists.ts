import { indicatorAttributes, intelAttributes, ruleAttributes } from '../contract/list-attributes.ts';
import type { IntelIndicator, IntelList } from '../contract/resources/intel-list.ts';
import type { Rule } from '../contract/resources/rule.ts';
import { severities } from '../contract/vocabulary.ts';
import { jsonPage } from '../database/json-page.ts';
import { attributeList } from '../database/lists/attributes.ts';
import { members, text } from '../database/lists/filter.ts';
import { type ListSpec, pageOf } from '../database/lists/list.ts';
import { rank, timeOrder } from '../database/lists/order.ts';
import type { ListPage, ListQuery } from '../store/store.ts';

export const ruleList: ListSpec<Rule> = attributeList(ruleAttributes, {
  type: 'rule',
  terms: {
    broken: text((rule) => String(rule.errors.length > 0)),
    tag: members((rule) => rule.tags),
  },
  sorts: { level: (rule) => rank(severities, rule.level) },
  time: (rule) => rule.changed_at,
  names: (rule) => [rule.title, rule.file, ...rule.tags, rule.source],
});

/** Returns one page of the detection rules, which are all in memory. Takes 10 ms at the rule limit. */
export function listRules(rules: ReadonlyMap<string, Rule>, query: ListQuery): ListPage {
  const rows = Array.from(rules, ([id, item]) => ({ id, item }));
  const { shown, ...rest } = pageOf(ruleList, rows, query);
  const resources = shown.map(({ id }) => ({ id, type: ruleList.type, attributes: rules.get(id)! }));
  return { json: jsonPage(resources, query), ...rest };
}

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
