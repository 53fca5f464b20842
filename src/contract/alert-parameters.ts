import { Type } from 'typebox';
import { limits } from '../limits.ts';
import { alertTerms, filterParameters, listParameters, many, word } from './parameters.ts';
import { oneOf } from './resources/common.ts';
import { between } from './resources/fields.ts';
import { alertActions, alertExports, alertGroupings } from './vocabulary.ts';

/** Which alerts are meant: what their list is filtered by. */
const whichAlerts = filterParameters(alertTerms, 'Last seen');
export const alertFilterQuery = Type.Object(whichAlerts, { additionalProperties: false });

export const alertExportQuery = Type.Object(
  {
    format: Type.Optional(
      oneOf(alertExports, {
        description:
          'ndjson: resources as the list has them. ocsf: OCSF 1.5.0 Detection Finding (class 2004). Default ndjson.',
      }),
    ),
    ...whichAlerts,
  },
  { additionalProperties: false },
);

export const alertGroupQuery = Type.Object(
  {
    by: oneOf(alertGroupings, { description: 'What the alerts of a group share.' }),
    limit: Type.Optional(
      between(1, limits.maxPerPage, `Groups shown, the largest; default ${limits.defaultPerPage}.`),
    ),
    ...whichAlerts,
  },
  { additionalProperties: false },
);

/** `from` and `to` bound `at`. */
export const alertHistoryFilters = {
  action: many(oneOf(alertActions, { description: 'What happened.' })),
  actor: many(word('Who: identifier or name of a principal, or system.')),
};
export const alertHistoryQuery = listParameters(['at'], alertHistoryFilters);
