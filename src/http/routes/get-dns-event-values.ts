import type { Handler } from '../context.ts';
import { eventValues } from '../event-values.ts';

export const getDnsEventValues: Handler<'getDnsEventValues'> = (context) => eventValues('dns', context);
