import { may } from '../../state/session.ts';

/** Whether who is signed in may change as many alerts: one, or several with one call. */
export const mayChange = (count: number): boolean => may(count > 1 ? 'bulkUpdateAlerts' : 'updateAlert');
