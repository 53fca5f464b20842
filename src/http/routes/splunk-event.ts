import type { Handler } from '../context.ts';
import { collect } from '../shippers/collect.ts';

export const splunkEvent: Handler<'splunkEvent'> = (context) => collect(context, 'splunk_event');
