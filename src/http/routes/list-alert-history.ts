import { readAlert } from '../alert-reads.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAlertHistory: Handler<'listAlertHistory'> = async (context) => {
  const { services, params } = context;
  // First, because it refuses a cursor of another list, whatever the alert.
  const reply = await listReply(context, (query, signal) =>
    services.queries.run('listAlertHistory', { alertId: params.alert_id, query }, { signal }),
  );
  readAlert(params.alert_id, services);
  return reply;
};
