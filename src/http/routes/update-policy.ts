import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { resource } from '../reply.ts';

export const updatePolicy: Handler<'updatePolicy'> = async ({ services, headers, body, identity }) => {
  await requireLog(services);
  const { policy } = services;
  const version = ifMatchVersion(headers['if-match']);
  return resource('policy', policy.id, await policy.replace(body.rules, identity.principal, version));
};
