import { tokenAttributes } from '../../contract/shown-attributes.ts';
import { invalidField } from '../../errors.ts';
import { callerOf } from '../access.ts';
import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { created } from '../reply.ts';

export const issueToken: Handler<'issueToken'> = async ({ services, body, identity }) => {
  await requireLog(services);
  const { name, scopes: roles, principal_id = identity.principal.id, expires_at } = body;
  const principal = services.reader.principal(principal_id);
  if (principal === undefined) throw invalidField('principal_id', 'is not the id of a principal');
  const terms = { name, roles, ...(expires_at === undefined ? {} : { expires_at }) };
  const { token, record } = await services.auth.issueLongLived(principal, terms, callerOf(identity));
  services.pokeOutbox();
  return created('token', record.jti, { ...tokenAttributes(record), token }, `/api/v1/tokens/${record.jti}`);
};
