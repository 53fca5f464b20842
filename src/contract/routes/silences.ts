import { paginated, success } from '../envelopes.ts';
import { attributesTo, silenceAttributes } from '../list-attributes.ts';
import { filtersOf, listParameters, many, word } from '../parameters.ts';
import { oneOf } from '../resources/common.ts';
import { parameters, uuid } from '../resources/fields.ts';
import { Silence, SilenceInput, SilenceUpdateInput } from '../resources/silence.ts';
import { ruleSources } from '../vocabulary.ts';
import { analysts, ifMatch, json, list, none, type RoutesWithout, readers, sharing } from './route.ts';

const silenceParams = parameters({ silence_id: uuid('Identifier of the silence.') });

/** Filters of silences. `from` and `to` select a range of `created_at`. */
const silenceFilters = {
  ...filtersOf(Silence, attributesTo('filter', silenceAttributes)),
  rule_id: many(word('A rule that the silence names.')),
  rule_source: many(oneOf(ruleSources, 'A rule source that the silence names.')),
  category: many(word('A category that the silence names.')),
  domain: many(word('A domain that the silence names, case-insensitive.')),
  asset_id: many(uuid('An asset that the silence names.')),
};
export const silenceQuery = listParameters(attributesTo('sort', silenceAttributes), silenceFilters);

/** Silences suppress the alerts of expected findings for a time. */
export const silencesRoutes = sharing({ tag: 'alerts', access: analysts, method: 'GET' }, {
  listSilences: {
    path: '/api/v1/silences',
    summary: 'List silences',
    access: readers,
    query: silenceQuery,
    responses: { 200: list(paginated('silence')) },
  },
  createSilence: {
    method: 'POST',
    path: '/api/v1/silences',
    summary: 'Create a silence',
    audited: true,
    body: { kind: 'json', schema: SilenceInput, resource: Silence },
    responses: { 201: json(success('silence')) },
    errors: ['CONFLICT'],
  },
  getSilence: {
    path: '/api/v1/silences/:silence_id',
    summary: 'Get a silence',
    access: readers,
    params: silenceParams,
    responses: { 200: json(success('silence')) },
    errors: ['NOT_FOUND'],
  },
  updateSilence: {
    method: 'PUT',
    path: '/api/v1/silences/:silence_id',
    summary: 'Update the matcher, reason or end of a silence',
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
    audited: true,
    params: silenceParams,
    headers: ifMatch,
    responses: { 204: none },
    errors: ['NOT_FOUND', 'VERSION_MISMATCH'],
  },
} as const satisfies RoutesWithout<'tag' | 'access' | 'method'>);
