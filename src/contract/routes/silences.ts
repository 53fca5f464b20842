import { attributesTo, silenceAttributes } from '../list-attributes.ts';
import { filtersOf, listParameters, many, word } from '../parameters.ts';
import { oneOf } from '../resources/common.ts';
import { uuid } from '../resources/fields.ts';
import { Silence, SilenceInput, SilenceUpdateInput } from '../resources/silence.ts';
import { ruleSources } from '../vocabulary.ts';
import { analysts, created, del, get, ifMatch, none, one, page, post, put, readers, sharing } from './route.ts';

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
export const silencesRoutes = sharing({ tag: 'alerts', access: analysts })({
  listSilences: get('/api/v1/silences', 'List silences', {
    access: readers,
    query: silenceQuery,
    responses: page('silence'),
  }),
  createSilence: post('/api/v1/silences', 'Create a silence', {
    audited: true,
    body: { kind: 'json', schema: SilenceInput, resource: Silence },
    responses: created('silence'),
    errors: ['CONFLICT'],
  }),
  getSilence: get('/api/v1/silences/:silence_id', 'Get a silence', { access: readers, responses: one('silence') }),
  updateSilence: put('/api/v1/silences/:silence_id', 'Update the matcher, reason or end of a silence', {
    audited: true,
    headers: ifMatch,
    body: { kind: 'json', schema: SilenceUpdateInput, resource: Silence },
    responses: one('silence'),
  }),
  deleteSilence: del('/api/v1/silences/:silence_id', 'End and delete a silence', {
    audited: true,
    headers: ifMatch,
    responses: { 204: none },
  }),
});
