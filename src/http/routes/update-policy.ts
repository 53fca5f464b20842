import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { resource } from '../reply.ts';

export const updatePolicy: Handler<'updatePolicy'> = async (context) => {
  const { services, headers, body, identity, audited } = context;
  await requireLog(services);
  const { policy } = services;
  const before = policy.current.version;
  const version = ifMatchVersion(headers['if-match']);
  const replaced = await policy.replace(body.rules, identity.principal, version, (entryId) =>
    audited?.noteEntries([entryId]),
  );
  if (replaced.version === before) audited?.noteNoChange();
  return resource('policy', policy.id, replaced);
};
