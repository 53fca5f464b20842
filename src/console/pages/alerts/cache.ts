import { again } from '../../state/answers.ts';
import { putRows } from '../../state/cached-rows.ts';
import type { AlertRow } from './question.ts';

const calls = { list: 'listAlerts', one: 'getAlert', parameter: 'alert_id' } as const;

/** Updates alerts in cached responses in place. */
export const putAlerts = (alerts: ReadonlyMap<string, AlertRow>): void => putRows(calls, alerts);

/** Refetches everything derived from alerts, except the queue, which does not change while the user reads it. */
export const alertsChanged = (): Promise<void> =>
  again(['listAlerts', 'groupAlerts', 'getAlertHistogram', 'listAlertHistory', 'listAlertNotes'], {
    except: 'listAlerts',
  });
