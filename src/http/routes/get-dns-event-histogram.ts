import type { Handler } from '../context.ts';
import { eventHistogram } from '../histograms.ts';

export const getDnsEventHistogram: Handler<'getDnsEventHistogram'> = (context) =>
  eventHistogram('dns', context);
