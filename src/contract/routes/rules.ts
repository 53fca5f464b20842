import { answer } from '../envelopes.ts';
import { attributesTo, ruleAttributes } from '../list-attributes.ts';
import { filtersOf, listParameters, many, word } from '../parameters.ts';
import { flag } from '../resources/fields.ts';
import {
  Rule,
  RuleInput,
  RulesReloaded,
  RuleTestInput,
  RuleTestResult,
  RuleTextInput,
  RuleUpdateInput,
  RuleValidation,
} from '../resources/rule.ts';
import {
  admins,
  analysts,
  created,
  del,
  get,
  ifMatch,
  json,
  none,
  one,
  page,
  post,
  put,
  readers,
  sharing,
} from './route.ts';

/** Filters of rules. `from` and `to` select a range of `changed_at`. */
const ruleFilters = {
  ...filtersOf(Rule, attributesTo('filter', ruleAttributes)),
  broken: many(flag('Whether the rule has errors and cannot be applied.')),
  tag: many(word('Exact tag of the rule.')),
};
export const ruleQuery = listParameters(attributesTo('sort', ruleAttributes), ruleFilters);

/** Detection rules. */
export const rulesRoutes = sharing({ tag: 'rules', access: admins })({
  listRules: get('/api/v1/rules', 'List detection rules', {
    access: readers,
    query: ruleQuery,
    responses: page('rule'),
  }),
  createRule: post('/api/v1/rules', 'Create a detection rule from one Sigma document', {
    audited: true,
    body: { kind: 'json', schema: RuleInput, resource: Rule },
    responses: created('rule'),
    errors: ['CONFLICT'],
  }),
  reloadRules: post('/api/v1/rules/reload', 'Reload the folders of detection rules', {
    audited: true,
    responses: { 200: json(answer(RulesReloaded)) },
  }),
  validateRule: post(
    '/api/v1/rules/validate',
    'Validate Sigma documents against the existing rules without storing them',
    {
      access: analysts,
      body: { kind: 'json', schema: RuleTextInput },
      responses: { 200: json(answer(RuleValidation)) },
    },
  ),
  testRule: post('/api/v1/rules/test', 'Test Sigma documents on stored events without storing them', {
    access: analysts,
    body: { kind: 'json', schema: RuleTestInput },
    responses: { 200: json(answer(RuleTestResult)) },
  }),
  getRule: get('/api/v1/rules/:rule_id', 'Get a detection rule', { access: readers, responses: one('rule') }),
  updateRule: put(
    '/api/v1/rules/:rule_id',
    'Update the text of a rule created over the API, or enable or disable any rule',
    {
      audited: true,
      headers: ifMatch,
      body: { kind: 'json', schema: RuleUpdateInput, resource: Rule },
      responses: one('rule'),
      errors: ['CONFLICT'],
    },
  ),
  deleteRule: del('/api/v1/rules/:rule_id', 'Delete a rule created over the API; other rules can only be disabled', {
    audited: true,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['CONFLICT'],
  }),
});
