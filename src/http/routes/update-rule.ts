import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { resource } from '../reply.ts';

export const updateRule: Handler<'updateRule'> = async (context) => {
  const { services, params, headers, body, identity, audited } = context;
  await requireLog(services);
  const version = ifMatchVersion(headers['if-match']);
  const updated = await services.rules.update(params.rule_id, body, identity.principal, version);
  if (updated.unchanged) audited?.noteNoChange();
  return resource('rule', updated.id, updated.rule);
};
