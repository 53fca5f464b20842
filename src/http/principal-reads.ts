import { ServiceError } from '../errors.ts';
import type { Principal } from '../store/store.ts';
import type { Services } from './services.ts';

/** @throws NOT_FOUND */
export function readPrincipal(id: string, { reader }: Pick<Services, 'reader'>): Principal {
  const principal = reader.principal(id);
  if (principal === undefined) throw new ServiceError('NOT_FOUND', `there is no principal ${id}`);
  return principal;
}
