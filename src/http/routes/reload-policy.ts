import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { resource } from '../reply.ts';

export const reloadPolicy: Handler<'reloadPolicy'> = async ({ services, identity, audited }) => {
  await requireLog(services);
  const { policy } = services;
  const before = policy.current.version;
  const reloaded = await policy.reload(identity.principal, (entryId) => audited?.noteEntries([entryId]));
  if (reloaded.version === before) audited?.noteNoChange();
  return resource('policy', policy.id, reloaded);
};
