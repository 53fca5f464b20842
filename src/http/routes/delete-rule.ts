import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { noContent } from '../reply.ts';

export const deleteRule: Handler<'deleteRule'> = async ({ services, params, headers, identity }) => {
  await requireLog(services);
  const version = ifMatchVersion(headers['if-match']);
  await services.rules.remove(params.rule_id, identity.principal, version);
  return noContent;
};
