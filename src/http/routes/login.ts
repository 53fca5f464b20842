import { addressGroup } from '../../address-group.ts';
import type { Handler } from '../context.ts';
import { countingRefusals } from '../reached.ts';
import { bareJson } from '../reply.ts';

const loginLimits = {
  RATE_LIMITED: 'maxLoginFailuresPerMinute',
  OVERLOADED: 'maxPasswordChecksInFlight',
} as const;

export const login: Handler<'login'> = async ({ services, body, remoteAddress, audited }) => {
  const ended = (jti: string) => {
    audited?.noteEntries();
    services.revoked(jti);
  };
  const session = services.auth.login(body, addressGroup(remoteAddress), ended, audited?.id);
  const tokens = await countingRefusals(services.metrics, loginLimits, session);
  audited?.noteEntries();
  services.pokeOutbox();
  return bareJson(tokens);
};
