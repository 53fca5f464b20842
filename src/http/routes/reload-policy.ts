import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { resource } from '../reply.ts';

export const reloadPolicy: Handler<'reloadPolicy'> = async ({ services, identity }) => {
  await requireLog(services);
  const { policy } = services;
  return resource('policy', policy.id, await policy.reload(identity.principal));
};
