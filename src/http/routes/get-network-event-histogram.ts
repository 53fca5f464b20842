import type { Handler } from '../context.ts';
import { eventHistogram } from '../histograms.ts';

export const getNetworkEventHistogram: Handler<'getNetworkEventHistogram'> = (context) =>
  eventHistogram('network', context);
