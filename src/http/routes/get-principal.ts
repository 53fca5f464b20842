import { principalAttributes } from '../../contract/shown-attributes.ts';
import type { Handler } from '../context.ts';
import { readPrincipal } from '../principal-reads.ts';
import { resource } from '../reply.ts';

export const getPrincipal: Handler<'getPrincipal'> = ({ services, params }) => {
  const principal = readPrincipal(params.principal_id, services);
  return resource('principal', principal.id, principalAttributes(principal));
};
