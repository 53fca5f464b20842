import { Type } from 'typebox';
import { answer, paginated, success } from '../envelopes.ts';
import { listParameters, many, word } from '../parameters.ts';
import { oneOf } from '../resources/common.ts';
import { flag, uuid } from '../resources/fields.ts';
import {
  Rule,
  RuleInput,
  RulesReloaded,
  RuleTestInput,
  RuleTestResult,
  RuleTextInput,
  RuleUpdateInput,
  RuleValidation,
  ruleKinds,
  ruleOrigins,
  ruleStatuses,
} from '../resources/rule.ts';
import { severities } from '../vocabulary.ts';
import { admins, analysts, closed, ifMatch, json, list, none, type Route, readers } from './route.ts';

const ruleParams = Type.Object({ rule_id: uuid('Identifier of the rule.') }, closed);

/** `from` and `to` bound `changed_at`. */
export const ruleFilters = {
  enabled: many(flag('Whether the rule is enabled.')),
  level: many(oneOf(severities, { description: 'Severity of the findings of the rule.' })),
  status: many(oneOf(ruleStatuses, { description: 'Maturity of the rule, as Sigma defines it.' })),
  kind: many(oneOf(ruleKinds, { description: 'Kind of document: rule, correlation or filter.' })),
  origin: many(oneOf(ruleOrigins, { description: 'Origin of the rule.' })),
  broken: many(flag('Whether the rule has errors and cannot be applied.')),
  title: many(word('Exact title of the rule.')),
  tag: many(word('Exact tag of the rule.')),
};
const ruleQuery = listParameters(['changed_at', 'title', 'level', 'hits'], ruleFilters);

/** Detection rules. */
export const rulesRoutes = {
  listRules: {
    method: 'GET',
    path: '/api/v1/rules',
    summary: 'List detection rules',
    tag: 'rules',
    access: readers,
    query: ruleQuery,
    responses: { 200: list(paginated('rule')) },
  },
  createRule: {
    method: 'POST',
    path: '/api/v1/rules',
    summary: 'Create a detection rule from one Sigma document',
    tag: 'rules',
    access: admins,
    audited: true,
    body: { kind: 'json', schema: RuleInput, resource: Rule },
    responses: { 201: json(success('rule')) },
    errors: ['CONFLICT'],
  },
  reloadRules: {
    method: 'POST',
    path: '/api/v1/rules/reload',
    summary: 'Reload the folders of detection rules',
    tag: 'rules',
    access: admins,
    audited: true,
    responses: { 200: json(answer(RulesReloaded)) },
  },
  validateRule: {
    method: 'POST',
    path: '/api/v1/rules/validate',
    summary: 'Validate Sigma documents against the existing rules without storing them',
    tag: 'rules',
    access: analysts,
    body: { kind: 'json', schema: RuleTextInput },
    responses: { 200: json(answer(RuleValidation)) },
  },
  testRule: {
    method: 'POST',
    path: '/api/v1/rules/test',
    summary: 'Test Sigma documents on stored events without storing them',
    tag: 'rules',
    access: analysts,
    body: { kind: 'json', schema: RuleTestInput },
    responses: { 200: json(answer(RuleTestResult)) },
  },
  getRule: {
    method: 'GET',
    path: '/api/v1/rules/:rule_id',
    summary: 'Get a detection rule',
    tag: 'rules',
    access: readers,
    params: ruleParams,
    responses: { 200: json(success('rule')) },
    errors: ['NOT_FOUND'],
  },
  updateRule: {
    method: 'PUT',
    path: '/api/v1/rules/:rule_id',
    summary: 'Update the text of a rule created over the API, or enable or disable any rule',
    tag: 'rules',
    access: admins,
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
    tag: 'rules',
    access: admins,
    audited: true,
    params: ruleParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
} as const satisfies Record<string, Route>;
