import { type TProperties, Type } from 'typebox';
import { limits } from '../limits.ts';
import {
  alertTerms,
  dnsEventFilters,
  dnsEventTerms,
  filterParameters,
  networkEventFilters,
  networkEventTerms,
} from './parameters.ts';
import { oneOf } from './resources/common.ts';
import { between, parameters } from './resources/fields.ts';

type Name<F> = keyof F & string;

/** Returns the attributes whose values can be counted: all filters. */
const countedBy = <F extends TProperties>(filters: F): readonly (Name<F> | 'severity')[] => [
  'severity',
  ...(Object.keys(filters) as Name<F>[]),
];

const valueParameters = <const B extends readonly string[], F extends TProperties>(by: B, filters: F) =>
  parameters({
    by: oneOf(by, 'Attribute whose values to count, by the name of its filter.'),
    limit: Type.Optional(
      between(
        1,
        limits.maxShownValues,
        `Number of values to return, most frequent first. Default: ${limits.defaultShownValues}.`,
      ),
    ),
    ...filterParameters(filters),
  });

/** Queries for counts of values: the filters of the list, and the attribute whose values are counted. */
export const networkEventValuesQuery = valueParameters(countedBy(networkEventFilters), networkEventTerms);
export const dnsEventValuesQuery = valueParameters(countedBy(dnsEventFilters), dnsEventTerms);

/** Returns the parameters of a histogram: the filters of the list, and the maximum number of buckets. */
const histogramParameters = <F extends TProperties>(filters: F, ranges?: string) =>
  parameters({
    buckets: Type.Optional(
      between(
        1,
        limits.maxHistogramBuckets,
        `Maximum number of buckets, including empty ones. Default: ${limits.defaultHistogramBuckets}.`,
      ),
    ),
    ...filterParameters(filters, ranges),
  });
export const networkEventHistogramQuery = histogramParameters(networkEventTerms);
export const dnsEventHistogramQuery = histogramParameters(dnsEventTerms);
export const alertHistogramQuery = histogramParameters(alertTerms, 'Last seen');
