import { Type } from 'typebox';
import { paginated, success } from '../envelopes.ts';
import { listParameters, many, word } from '../parameters.ts';
import { oneOf } from '../resources/common.ts';
import { uuid } from '../resources/fields.ts';
import { Silence, SilenceInput, SilenceUpdateInput } from '../resources/silence.ts';
import { ruleSources, silenceStates } from '../vocabulary.ts';
import { analysts, closed, ifMatch, json, list, none, type Route, readers } from './route.ts';

const silenceParams = Type.Object({ silence_id: uuid('Identifier of the silence.') }, closed);

/** `from` and `to` bound `created_at`. */
export const silenceFilters = {
  state: many(oneOf(silenceStates, { description: 'Whether the silence is active or has expired.' })),
  owner: many(word('Name of the user who created the silence.')),
  rule_id: many(word('A rule that the silence names.')),
  rule_source: many(oneOf(ruleSources, { description: 'A rule source that the silence names.' })),
  category: many(word('A category that the silence names.')),
  domain: many(word('A domain that the silence names, case-insensitive.')),
  asset_id: many(uuid('An asset that the silence names.')),
};
const silenceQuery = listParameters(['created_at', 'expires_at', 'updated_at', 'owner'], silenceFilters);

/** Silences suppress the alerts of expected findings for a time. */
export const silencesRoutes = {
  listSilences: {
    method: 'GET',
    path: '/api/v1/silences',
    summary: 'List silences',
    tag: 'alerts',
    access: readers,
    query: silenceQuery,
    responses: { 200: list(paginated('silence')) },
  },
  createSilence: {
    method: 'POST',
    path: '/api/v1/silences',
    summary: 'Create a silence',
    tag: 'alerts',
    access: analysts,
    audited: true,
    body: { kind: 'json', schema: SilenceInput, resource: Silence },
    responses: { 201: json(success('silence')) },
    errors: ['CONFLICT'],
  },
  getSilence: {
    method: 'GET',
    path: '/api/v1/silences/:silence_id',
    summary: 'Get a silence',
    tag: 'alerts',
    access: readers,
    params: silenceParams,
    responses: { 200: json(success('silence')) },
    errors: ['NOT_FOUND'],
  },
  updateSilence: {
    method: 'PUT',
    path: '/api/v1/silences/:silence_id',
    summary: 'Update the matcher, reason or end of a silence',
    tag: 'alerts',
    access: analysts,
    audited: true,
    params: silenceParams,
    headers: ifMatch,
    body: { kind: 'json', schema: SilenceUpdateInput, resource: Silence },
    responses: { 200: json(success('silence')) },
    errors: ['NOT_FOUND', 'VERSION_MISMATCH'],
  },
  deleteSilence: {
    method: 'DELETE',
    path: '/api/v1/silences/:silence_id',
    summary: 'End and delete a silence',
    tag: 'alerts',
    access: analysts,
    audited: true,
    params: silenceParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'VERSION_MISMATCH'],
  },
} as const satisfies Record<string, Route>;
