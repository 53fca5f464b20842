import { type TProperties, Type } from 'typebox';
import { limits } from '../limits.ts';
import {
  dnsEventFilters,
  dnsEventTerms,
  filterParameters,
  networkEventFilters,
  networkEventTerms,
} from './parameters.ts';
import { oneOf } from './resources/common.ts';
import { between } from './resources/fields.ts';

type Name<F> = keyof F & string;

/** What can be filtered by has values that can be counted. */
const countedBy = <F extends TProperties>(filters: F): readonly (Name<F> | 'severity')[] => [
  'severity',
  ...(Object.keys(filters) as Name<F>[]),
];

const valueParameters = <const B extends readonly string[], F extends TProperties>(by: B, filters: F) =>
  Type.Object(
    {
      by: oneOf(by, { description: 'What the values are of: a filter by its name.' }),
      limit: Type.Optional(
        between(
          1,
          limits.maxShownValues,
          `Values shown, the most frequent; default ${limits.defaultShownValues}.`,
        ),
      ),
      ...filterParameters(filters),
    },
    { additionalProperties: false },
  );

/** The filters of the list, and of what the values are counted. */
export const networkEventValuesQuery = valueParameters(countedBy(networkEventFilters), networkEventTerms);
export const dnsEventValuesQuery = valueParameters(countedBy(dnsEventFilters), dnsEventTerms);
