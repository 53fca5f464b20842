import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { data } from '../reply.ts';

export const reloadRules: Handler<'reloadRules'> = async ({ services, identity, audited }) => {
  await requireLog(services);
  const { unchanged, ...reloaded } = await services.rules.reload(identity.principal);
  if (unchanged) audited?.noteNoChange();
  return data(reloaded);
};
