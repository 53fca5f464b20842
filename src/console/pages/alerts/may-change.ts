import { may } from '../../state/session.ts';

/**
 * Returns whether the user may change this many alerts; changing several alerts requires the permission for bulk
 * updates.
 */
export const mayChange = (count: number): boolean => may(count > 1 ? 'bulkUpdateAlerts' : 'updateAlert');
