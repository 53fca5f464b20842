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
  enabled: many(flag('Whether it is applied.')),
  level: many(oneOf(severities, { description: 'Severity of its findings.' })),
  status: many(oneOf(ruleStatuses, { description: 'How ripe it is.' })),
  kind: many(oneOf(ruleKinds, { description: 'Rule, correlation or filter.' })),
  origin: many(oneOf(ruleOrigins, { description: 'Where it comes from.' })),
  broken: many(flag('Whether it cannot be applied.')),
  title: many(word('Title, whole.')),
  tag: many(word('One of its tags, whole.')),
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
    summary: 'Add a detection rule: one document of Sigma',
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
    summary: 'Read the folders of detection rules anew',
    tag: 'rules',
    access: admins,
    audited: true,
    responses: { 200: json(answer(RulesReloaded)) },
  },
  validateRule: {
    method: 'POST',
    path: '/api/v1/rules/validate',
    summary: 'Ask whether documents could be applied, with the rules that there are; nothing is kept',
    tag: 'rules',
    access: analysts,
    body: { kind: 'json', schema: RuleTextInput },
    responses: { 200: json(answer(RuleValidation)) },
  },
  testRule: {
    method: 'POST',
    path: '/api/v1/rules/test',
    summary: 'Try documents on stored events; nothing is kept',
    tag: 'rules',
    access: analysts,
    body: { kind: 'json', schema: RuleTestInput },
    responses: { 200: json(answer(RuleTestResult)) },
  },
  getRule: {
    method: 'GET',
    path: '/api/v1/rules/:rule_id',
    summary: 'Get one detection rule',
    tag: 'rules',
    access: readers,
    params: ruleParams,
    responses: { 200: json(success('rule')) },
    errors: ['NOT_FOUND'],
  },
  updateRule: {
    method: 'PUT',
    path: '/api/v1/rules/:rule_id',
    summary: 'Change the text of a rule made here, or enable or disable any',
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
    summary: 'Remove a rule that was made here; others can be disabled',
    tag: 'rules',
    access: admins,
    audited: true,
    params: ruleParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'CONFLICT', 'VERSION_MISMATCH'],
  },
} as const satisfies Record<string, Route>;
