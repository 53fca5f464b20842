import type { Handler } from '../context.ts';
import { collect } from '../shippers/collect.ts';

export const splunkRaw: Handler<'splunkRaw'> = (context) => collect(context, 'splunk_raw');
