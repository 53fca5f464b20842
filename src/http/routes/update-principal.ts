import type { Principal, PrincipalUpdateInput } from '../../contract/resources/principal.ts';
import { principalAttributes } from '../../contract/shown-attributes.ts';
import { callerOf } from '../access.ts';
import type { Handler } from '../context.ts';
import { ifMatchVersion } from '../if-match.ts';
import { requireLog } from '../log-required.ts';
import { readPrincipal } from '../principal-reads.ts';
import { countingRefusals } from '../reached.ts';
import { resource } from '../reply.ts';

const passwordLimits = { OVERLOADED: 'maxPasswordChecksInFlight' } as const;

export const updatePrincipal: Handler<'updatePrincipal'> = async (context) => {
  const { services, params, headers, body, identity, audited } = context;
  if (mustBeLogged(body)) await requireLog(services);
  const version = ifMatchVersion(headers['if-match']);
  const { kind, version: before } = readPrincipal(params.principal_id, services);
  const change = () => {
    const known = readPrincipal(params.principal_id, services);
    return services.auth.changePrincipal(known, body, callerOf(identity), version);
  };
  const changing = mayTakeAway(kind, body)
    ? services.policy.changePrincipal(params.principal_id, body, change)
    : change();
  const { principal } = await countingRefusals(services.metrics, passwordLimits, changing);
  if (principal.version === before) audited?.noteNoChange();
  services.principalChanged(principal.id);
  services.pokeOutbox();
  return resource('principal', principal.id, principalAttributes(principal));
};

/** Whether it could be the last one who is able to administer: users only are. */
function mayTakeAway(kind: Principal['kind'], { roles, status }: PrincipalUpdateInput): boolean {
  return kind === 'user' && (roles !== undefined || (status !== undefined && status !== 'active'));
}

/** What gives somebody more. To lock a principal out must be possible when the log takes nothing: its entry waits. */
function mustBeLogged({ roles, status }: PrincipalUpdateInput): boolean {
  return roles !== undefined || status === 'active';
}
