import { addressGroup } from '../../address-group.ts';
import type { Handler } from '../context.ts';
import { countingRefusals } from '../reached.ts';
import { noContent } from '../reply.ts';

const passwordLimits = {
  RATE_LIMITED: 'maxLoginFailuresPerMinute',
  OVERLOADED: 'maxPasswordChecksInFlight',
} as const;

export const changePassword: Handler<'changePassword'> = async (context) => {
  const { services, body, identity, remoteAddress } = context;
  const changing = services.auth.changePassword(identity, body, addressGroup(remoteAddress));
  await countingRefusals(services.metrics, passwordLimits, changing);
  services.principalChanged(identity.principal.id);
  services.pokeOutbox();
  return noContent;
};
