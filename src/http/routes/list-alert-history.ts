import { readAlert } from '../alert-reads.ts';
import type { Handler } from '../context.ts';
import { listReply } from '../list-reply.ts';

export const listAlertHistory: Handler<'listAlertHistory'> = (context) => {
  const { services, params } = context;
  return listReply(context, async (query, options) => {
    // First, because it refuses a cursor of another list, whatever the alert.
    const page = await services.queries.run('listAlertHistory', { alertId: params.alert_id, query }, options);
    readAlert(params.alert_id, services);
    return page;
  });
};
