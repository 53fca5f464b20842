import { principalAttributes } from '../../contract/shown-attributes.ts';
import { callerOf } from '../access.ts';
import type { Handler } from '../context.ts';
import { requireLog } from '../log-required.ts';
import { countingRefusals } from '../reached.ts';
import { created } from '../reply.ts';

const passwordLimits = { OVERLOADED: 'maxPasswordChecksInFlight' } as const;

export const createPrincipal: Handler<'createPrincipal'> = async ({ services, body, identity }) => {
  await requireLog(services);
  const creating = services.auth.createPrincipal(body, callerOf(identity));
  const principal = await countingRefusals(services.metrics, passwordLimits, creating);
  services.pokeOutbox();
  const location = `/api/v1/principals/${principal.id}`;
  return created('principal', principal.id, principalAttributes(principal), location);
};
