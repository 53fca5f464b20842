import { type TProperties, Type } from 'typebox';
import { limits } from '../limits.ts';
import { alertTerms, dnsEventTerms, filterParameters, networkEventTerms } from './parameters.ts';
import { between, parameters } from './resources/fields.ts';

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
