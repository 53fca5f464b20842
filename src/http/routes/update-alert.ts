import { announce } from '../alert-reads.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';

export const updateAlert: Handler<'updateAlert'> = async ({ services, params, headers, body, identity }) => {
  const version = ifMatchVersion(headers['if-match']);
  const update = await services.store.changeAlert(params.alert_id, body, identity.principal, version);
  return announce(update, services);
};
