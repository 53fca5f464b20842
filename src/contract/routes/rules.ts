import { answer, paginated, success } from '../envelopes.ts';
import { attributesTo, ruleAttributes } from '../list-attributes.ts';
import { filtersOf, listParameters, many, word } from '../parameters.ts';
import { flag, parameters, uuid } from '../resources/fields.ts';
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
import { admins, analysts, ifMatch, json, list, none, type RoutesWithout, readers, sharing } from './route.ts';

const ruleParams = parameters({ rule_id: uuid('Identifier of the rule.') });

/** Filters of rules. `from` and `to` select a range of `changed_at`. */
const ruleFilters = {
  ...filtersOf(Rule, attributesTo('filter', ruleAttributes)),
  broken: many(flag('Whether the rule has errors and cannot be applied.')),
  tag: many(word('Exact tag of the rule.')),
};
export const ruleQuery = listParameters(attributesTo('sort', ruleAttributes), ruleFilters);

/** Detection rules. */
export const rulesRoutes = sharing({ tag: 'rules', access: admins, method: 'GET' }, {
  listRules: {
    path: '/api/v1/rules',
    summary: 'List detection rules',
    access: readers,
    query: ruleQuery,
    responses: { 200: list(paginated('rule')) },
  },
  createRule: {
    method: 'POST',
    path: '/api/v1/rules',
    summary: 'Create a detection rule from one Sigma document',
    audited: true,
    body: { kind: 'json', schema: RuleInput, resource: Rule },
    responses: { 201: json(success('rule')) },
    errors: ['CONFLICT'],
  },
  reloadRules: {
    method: 'POST',
    path: '/api/v1/rules/reload',
    summary: 'Reload the folders of detection rules',
    audited: true,
    responses: { 200: json(answer(RulesReloaded)) },
  },
  validateRule: {
    method: 'POST',
    path: '/api/v1/rules/validate',
    summary: 'Validate Sigma documents against the existing rules without storing them',
    access: analysts,
    body: { kind: 'json', schema: RuleTextInput },
    responses: { 200: json(answer(RuleValidation)) },
  },
  testRule: {
    method: 'POST',
    path: '/api/v1/rules/test',
    summary: 'Test Sigma documents on stored events without storing them',
    access: analysts,
    body: { kind: 'json', schema: RuleTestInput },
    responses: { 200: json(answer(RuleTestResult)) },
  },
  getRule: {
    path: '/api/v1/rules/:rule_id',
    summary: 'Get a detection rule',
    access: readers,
    params: ruleParams,
    responses: { 200: json(success('rule')) },
    errors: ['NOT_FOUND'],
  },
  updateRule: {
    method: 'PUT',
    path: '/api/v1/rules/:rule_id',
    summary: 'Update the text of a rule created over the API, or enable or disable any rule',
    audited: true,
    params: ruleParams,
    headers: ifMatch,
    body: { kind: 'json', schema: RuleUpdateInput, resource: Rule },
    responses: { 200: json(success('rule')) },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
  deleteRule: {
    method: 'DELETE',
    path: '/api/v1/rules/:rule_id',
    summary: 'Delete a rule created over the API; other rules can only be disabled',
    audited: true,
    params: ruleParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
