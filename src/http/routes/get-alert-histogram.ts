import type { Handler } from '../context.ts';
import { alertHistogram } from '../histograms.ts';

export const getAlertHistogram: Handler<'getAlertHistogram'> = (context) => alertHistogram(context);
