import { Type } from 'typebox';
import { limits } from '../limits.ts';
import { alertTerms, filterParameters, listParameters, many, word } from './parameters.ts';
import { oneOf } from './resources/common.ts';
import { between, parameters } from './resources/fields.ts';
import { alertActions, alertExports, alertGroupings } from './vocabulary.ts';

/** Parameters that select alerts: time range, search and filters. */
const whichAlerts = filterParameters(alertTerms, 'Last seen');
export const alertFilterQuery = parameters(whichAlerts);

export const alertExportQuery = parameters({
  format: Type.Optional(
    oneOf(
      alertExports,
      'Format of the export. ndjson: resources as in the list; ocsf: OCSF 1.5.0 Detection Finding (class 2004). Default: ndjson.',
    ),
  ),
  ...whichAlerts,
});

export const alertGroupQuery = parameters({
  by: oneOf(alertGroupings, 'Attribute by which to group the alerts.'),
  limit: Type.Optional(
    between(1, limits.maxPerPage, `Number of groups to return, largest first. Default: ${limits.defaultPerPage}.`),
  ),
  ...whichAlerts,
});

/** Filters of the history of alerts. `from` and `to` select a range of `at`. */
export const alertHistoryFilters = {
  action: many(oneOf(alertActions, 'Kind of change.')),
  actor: many(word('Identifier or name of the principal that made the change, or system.')),
};
export const alertHistoryQuery = listParameters(['at'], alertHistoryFilters);
