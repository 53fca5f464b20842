import { tokenAttributes } from '../../contract/shown-attributes.ts';
import { ServiceError } from '../../errors.ts';
import type { Handler } from '../context.ts';
import { resource } from '../reply.ts';

export const getToken: Handler<'getToken'> = ({ services, params }) => {
  const token = services.reader.token(params.token_id);
  if (token === undefined) throw new ServiceError('NOT_FOUND', `there is no token ${params.token_id}`);
  return resource('token', token.jti, tokenAttributes(token));
};
